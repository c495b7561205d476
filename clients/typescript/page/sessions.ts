// The view "Sessions": the learning curves of this caller's sessions, also of ended ones, and their live games. No call here changes
// a session or renews its lease.

import type { History } from "../src/index.js";
import type { Session, WatchFrame, WatchStarted, WatchedEnv } from "../src/protocol.js";
import { ActionModel, EpisodeEnd } from "../src/protocol.js";
import type { Choices, Reader } from "./address.js";
import { type App, type View, inWords, isGone, isSilence } from "./app.js";
import { Board, Side } from "./board.js";
import { Curves } from "./curves.js";
import { field, grouped, h, select, short, sleep } from "./dom.js";
import { ABOVE, isOfTetrominoes, sizeInWords, visibleRows } from "./rules.js";
import { Runs, curveOf } from "./runs.js";
import { Snippets } from "./snippets.js";
import { type Cell, LETTERS, lifted } from "./tetromino.js";

/** Milliseconds between two updates of the list, and between two attempts to reach a server. */
const PATIENCE = 2000;
/** Number of learners with curves, the newest ones. */
const MOST_CURVES = 12;
/** Number of episodes per mean in the numbers of a session. */
const WINDOW = 50;
/** Frames per second with few boards, and with many. */
const [QUICK, SLOW] = [20, 8];
/** Maximum number of boards with room for the next pieces. */
const ROOMY = 4;
/** Choices for the number of boards. */
const BOARDS = ["1", "4", "16", "64"];

/** A board and its caption. */
interface Shown {
  readonly board: Board;
  /** The next pieces and the held one; undefined without room for them. */
  readonly side: Side | undefined;
  readonly words: HTMLElement;
  readonly tile: HTMLElement;
}

/** The view. */
export class Sessions implements View {
  readonly root = h("div", { class: "view sessions" });
  private readonly list = h("div", { class: "session-list", role: "radiogroup", "aria-label": "Sessions" });
  /** The rows of the list by the names of their sessions. */
  private readonly rows = new Map<string, HTMLButtonElement>();
  private readonly grid = h("div", { class: "boards" });
  private readonly facts = h("div", { class: "facts" });
  private readonly title = h("h2", {}, "");
  private readonly remark = h("p", { class: "remark", "aria-live": "polite" });
  private readonly curves: Curves;
  private readonly watched = h("section", { class: "card watched", hidden: true });
  private readonly empty: HTMLElement;
  private readonly number: HTMLSelectElement;
  private boards: Shown[] = [];
  private name: string | undefined;
  private stop: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private listed = "";
  /** The open sessions by their names. */
  private open = new Map<string, Session>();
  private started: WatchStarted | undefined;
  /** Learners, including ended ones. */
  private readonly runs = new Runs();
  /** The last history of each learner, and when it came. */
  private readonly histories = new Map<string, { readonly history: History; readonly at: number; readonly stepsPerSecond: number }>();
  /** Whether the user has chosen the watched session. */
  private isChosen: boolean;

  constructor(private readonly app: App, address: Reader) {
    this.number = select(BOARDS.map((number) => [number, number] as const), address.oneOf("boards", BOARDS) ?? "16", () => {
      this.app.changed();
      if (this.name !== undefined) {
        this.watch(this.name);
      }
    });
    const id = address.text("session");
    this.name = id === undefined ? undefined : `sessions/${id}`;
    this.isChosen = id !== undefined;
    this.curves = new Curves(address, () => this.app.changed());
    this.watched.append(h("div", { class: "row watched-head" }, this.title, field("Boards", this.number)), this.facts, this.grid, this.remark);
    this.empty = h("section", { class: "card" },
      h("h2", {}, "No learner has a session here"),
      h("p", {}, "Start one with these lines, and its curve and its games appear here:"),
      new Snippets(app).element);
    this.root.append(
      h("h1", {}, "Sessions"),
      h("p", { class: "lead" }, "Curves and live games of the learners on this server. Watching does not slow them down."),
      h("div", { class: "columns" },
        h("div", {}, this.curves.element, h("section", { class: "card" }, h("h2", {}, "Visible sessions"), this.list)),
        h("div", {}, this.empty, this.watched)));
    addEventListener("pagehide", () => this.runs.keep());
  }

  choices(): Choices {
    const { name, number } = this;
    return { ...(name !== undefined && this.isChosen && { session: name.replace("sessions/", "") }), ...(number.value !== "16" && { boards: number.value }), ...this.curves.choices() };
  }

  enter(): void {
    void this.look();
  }

  leave(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.stop?.abort();
    this.app.notice(undefined);
  }

  /** Updates the list of sessions and the curves periodically. */
  private async look(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), PATIENCE);
    const sessions: Session[] = [];
    try {
      for await (const session of this.app.client.listSessions()) {
        sessions.push(session);
      }
      const learners = sessions.filter(isLearner);
      const shown = learners.filter(({ name }, at) => at >= learners.length - MOST_CURVES || name === this.name);
      await Promise.all(shown.map((session) => this.update(session, learners)));
      this.app.notice(undefined);
    } catch (problem) {
      this.app.notice(problem);
      return;
    }
    this.open = new Map(sessions.map((session) => [session.name, session]));
    for (const run of this.runs.values()) {
      run.isOver = !this.open.has(run.name);
    }
    this.show(sessions);
    // Watch the newest learner. An ended one stays on the screen until another one begins.
    const newest = sessions.filter(isLearner).at(-1);
    const isFree = this.name === undefined || (!this.isChosen && this.runs.get(this.name)?.isOver !== false);
    if (newest !== undefined && isFree && newest.name !== this.name) {
      this.watch(newest.name);
    } else if (this.name === undefined && this.runs.values().length > 0) {
      this.watch(this.runs.values().at(-1)!.name);
    } else if (this.name !== undefined && this.stop?.signal.aborted !== false) {
      this.watch(this.name); // the view has just appeared
    }
    this.draw();
  }

  /** Reads the history of a learner, if it has changed. */
  private async update(session: Session, learners: readonly Session[]): Promise<void> {
    const { name } = session;
    const last = this.histories.get(name);
    let history = last?.history;
    const at = performance.now();
    if (history === undefined || history.sequenceNumber !== session.sequenceNumber) {
      try {
        history = await this.app.client.getHistory(name);
      } catch (problem) {
        if (isGone(problem)) {
          return;
        }
        throw problem;
      }
    }
    const stepsPerSecond = last === undefined ? NaN : ((history.numSteps - last.history.numSteps) / (at - last.at)) * 1000;
    this.histories.set(name, { history, at, stepsPerSecond });
    this.runs.take({ name, title: titleOf(session, learners), what: inWordsOf(session) }, history);
  }

  private show(sessions: readonly Session[]): void {
    const ended = this.runs.values().filter(({ name, points }) => points.length > 1 && !this.open.has(name));
    const learners = sessions.filter(isLearner);
    this.empty.hidden = learners.length > 0 || this.name !== undefined;
    const now = JSON.stringify([this.name, sessions.map(({ name, sequenceNumber }) => [name, String(sequenceNumber)]), this.runs.values().map(({ name, numEpisodes }) => [name, numEpisodes])]);
    if (now === this.listed) {
      return;
    }
    this.listed = now;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["session"] : undefined;
    const row = (name: string, title: string, ...words: string[]) => {
      const run = this.runs.get(name);
      const swatch = run === undefined ? [] : [h("span", { class: `swatch series-${run.ink}` })];
      // A row stays the same element while its words change: one that is replaced between press and release loses the click.
      const made = this.rows.get(name) ?? h("button", { type: "button", class: "session", role: "radio", "data-session": name, onclick: () => this.choose(name) });
      this.rows.set(name, made);
      made.ariaChecked = String(name === this.name);
      made.replaceChildren(h("strong", {}, ...swatch, title), ...words.map((text) => h("span", {}, text)));
      return made;
    };
    const open = (session: Session, among: readonly Session[]) => {
      const { name, sequenceNumber, createTime } = session;
      const since = createTime === undefined ? "" : `, since ${new Date(Number(createTime.seconds) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false })}`;
      const run = this.runs.get(name);
      const done = run === undefined ? `${grouped(sequenceNumber)} ${sequenceNumber === 1n ? "call" : "calls"}` : episodesInWords(run.numEpisodes);
      return row(name, titleOf(session, among), `${inWordsOf(session)}${isLearner(session) ? "" : ", a person's game"}`, `${done}${since}`);
    };
    const games = sessions.filter((session) => !isLearner(session));
    const rows = [
      ...learners.map((session) => open(session, learners)),
      ...ended.map(({ name, title, what, numEpisodes }) => row(name, title, what, `has ended; ${episodesInWords(numEpisodes)}`)),
      ...games.map((session) => open(session, games)),
    ];
    if (rows.length > 0 && rows.length === this.list.children.length && rows.every((row, at) => row === this.list.children[at])) {
      return;
    }
    for (const [name, row] of this.rows) {
      if (!rows.includes(row)) {
        this.rows.delete(name);
      }
    }
    const none = h("p", { class: "remark" }, "No sessions at the moment.");
    this.list.replaceChildren(...(rows.length > 0 ? rows : [none]));
    if (focused !== undefined) {
      rows.find((row) => row.dataset["session"] === focused)?.focus();
    }
  }

  /** Watches the session that the user has chosen. */
  private choose(name: string): void {
    this.isChosen = true;
    this.watch(name);
    this.app.changed();
  }

  /** Watches a session, or shows the curve of one that has ended. */
  private watch(name: string): void {
    this.stop?.abort();
    const stop = (this.stop = new AbortController());
    if (name !== this.name) {
      this.name = name;
      this.facts.replaceChildren();
      this.clearBoards();
    }
    this.empty.hidden = true;
    this.watched.hidden = false;
    this.remark.textContent = "";
    for (const row of this.list.querySelectorAll<HTMLElement>("[data-session]")) {
      row.ariaChecked = String(row.dataset["session"] === name);
    }
    this.draw();
    void this.follow(name, stop.signal);
  }

  /** Draws the curves, with that of the watched session above the others, and its numbers. */
  private draw(): void {
    const run = this.runs.get(this.name);
    const session = this.open.get(this.name ?? "");
    this.title.textContent = run?.title ?? (session === undefined ? brief(this.name ?? "") : titleOf(session, []));
    this.curves.show([...this.runs.values().filter((other) => other !== run), ...(run === undefined ? [] : [run])]);
    if (run === undefined) {
      return;
    }
    const { numEpisodes, points } = run;
    const { stepsPerSecond = NaN } = this.histories.get(run.name) ?? {};
    const fact = (value: string, name: string) => h("div", { class: "fact" }, h("output", {}, value), h("span", {}, name));
    const mean = curveOf(points, "lines", "episodes", WINDOW).at(-1)?.y;
    this.facts.replaceChildren(
      ...(run.isOver ? [] : [fact(Number.isFinite(stepsPerSecond) ? short(stepsPerSecond) : "–", "steps per second")]),
      fact(grouped(numEpisodes), numEpisodes === 1 ? "finished episode" : "finished episodes"),
      ...(mean === undefined ? [] : [fact(short(mean), numEpisodes === 1 ? "lines in it" : `lines, mean of the last ${grouped(Math.min(WINDOW, numEpisodes))}`)]));
  }

  private async follow(name: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const number = Number(this.number.value);
      try {
        const session = this.open.get(name);
        const envIds = Array.from({ length: Math.min(Math.max(number, playersOf(session)), session?.config?.numEnvs ?? 1) }, (_, env) => env);
        const options = { envIds, maxFramesPerSecond: number > 16 ? SLOW : QUICK, signal };
        for await (const event of this.app.client.watchSession(name, options)) {
          if (event.case === "started") {
            this.begin(event.value);
          } else {
            this.frame(event.value);
          }
        }
      } catch (problem) {
        if (signal.aborted) {
          return;
        }
        if (isGone(problem)) {
          this.end(name);
          return;
        }
        if (!isSilence(problem)) {
          this.remark.textContent = inWords(problem);
        }
      }
      await sleep(PATIENCE);
    }
  }

  /** The session has ended. Its curve stays. */
  private end(name: string): void {
    const run = this.runs.get(name);
    if (run !== undefined) {
      run.isOver = true;
    }
    this.remark.textContent = `The session has ended.${run === undefined || run.points.length < 2 ? "" : " Its curve stays while this tab is open."}`;
    this.listed = "";
    this.runs.keep();
    this.draw();
  }

  private clearBoards(): void {
    for (const { board, side } of this.boards) {
      board.surface.drop();
      side?.drop();
    }
    this.boards = [];
    this.grid.replaceChildren();
  }

  private begin(started: WatchStarted): void {
    this.started = started;
    const { session } = started;
    const { rules } = session?.config ?? {};
    const sides = playersOf(session);
    const above = (rules?.rowsAbove ?? 0) > 0 ? ABOVE : 0;
    this.clearBoards();
    this.boards = started.envIds.map((env) => {
      const board = new Board(above, `Environment ${env}`);
      const side = started.envIds.length <= ROOMY && rules !== undefined ? new Side() : undefined;
      side?.begin(rules!);
      const words = h("span", { class: "number" });
      return { board, side, words, tile: h("figure", { class: "tile" }, board.surface.canvas, h("figcaption", {}, h("span", {}, `${env}`), words), side && h("div", { class: "side" }, side.hold, side.queue)) };
    });
    const tiles = this.boards.map(({ tile }) => tile);
    this.grid.replaceChildren(...(sides === 1 ? tiles : tiles.flatMap((tile, at) => (at % 2 === 0 ? [h("div", { class: "match" }, tile, tiles[at + 1])] : []))));
    if (rules?.width !== undefined) {
      this.grid.style.setProperty("--ratio", String(rules.width / (visibleRows(rules) + above)));
    }
    // The number of boards decides their size.
    this.grid.dataset["boards"] = BOARDS.find((most) => tiles.length <= Number(most) * sides);
  }

  private frame({ envs }: WatchFrame): void {
    envs.forEach((env, at) => this.board(env, this.boards[at]));
  }

  private board(env: WatchedEnv, shown: Shown | undefined): void {
    const { rules } = this.started?.session?.config ?? {};
    if (shown === undefined || rules?.width === undefined || rules.height === undefined) {
      return;
    }
    // The page has no drawings of other piece sets and does not show their next pieces.
    const isUsual = isOfTetrominoes(rules);
    const numberOf = (letter: string) => (isUsual && letter !== "" ? LETTERS.indexOf(letter) : -1);
    const kind = numberOf(env.piece);
    const { width, height: rows } = rules;
    const height = visibleRows(rules);
    const words = env.end === EpisodeEnd.UNSPECIFIED ? "waits" : env.end === EpisodeEnd.NOT_ENDED ? undefined : EpisodeEnd[env.end]!.toLowerCase().replaceAll("_", " ");
    const isFalling = rules.actionModel === ActionModel.KEYPRESS;
    const isDrawn = env.piece !== "" && (isFalling || height < rows);
    const piece = isDrawn ? { kind, cells: isFalling ? pairs(env.pieceCells) : lifted(pairs(env.pieceCells), height) } : undefined;
    shown.board.show({
      width,
      height,
      cells: env.colors.length === width * rows ? env.colors : new Uint8Array(width * rows),
      last: pairs(env.lastCells).map(([row, column]) => row * width + column),
      piece,
      ghost: env.ghostCells.length > 0 ? pairs(env.ghostCells) : undefined,
      words,
      garbage: env.garbage,
    });
    shown.side?.show({ held: numberOf(env.held), next: [...env.queue].map(numberOf) });
    shown.words.textContent = `${grouped(env.lines)} ${env.lines === 1n ? "line" : "lines"}`;
    shown.board.surface.label = `Environment ${env.envId}: ${grouped(env.lines)} lines, ${grouped(env.pieces)} pieces${env.held === "" ? "" : `, ${env.held} held`}`;
  }
}

/** Description of a session in words. */
function inWordsOf(session: Session): string {
  const { numEnvs = 1, rules } = session.config ?? {};
  const what = rules === undefined ? "" : `, ${rules.preset} ${sizeInWords(rules)}`;
  const matches = playersOf(session) === 2 ? ` in ${grouped(numEnvs / 2)} ${numEnvs === 2 ? "match" : "matches"}` : "";
  return `${grouped(numEnvs)} ${numEnvs === 1 ? "environment" : "environments"}${matches}${what}`;
}

/** Number of environments that play each other. */
function playersOf(session: Session | undefined): number {
  return session?.config?.rules?.players === 2 ? 2 : 1;
}

function pairs(numbers: readonly number[]): Cell[] {
  return Array.from({ length: numbers.length / 2 }, (_, at): Cell => [numbers[2 * at]!, numbers[2 * at + 1]!]);
}

function isLearner({ config }: Session): boolean {
  return config?.interactive !== true;
}

function episodesInWords(number: number): string {
  return `${grouped(number)} ${number === 1 ? "episode" : "episodes"}`;
}

/** The label of a session, with its name if another one of these sessions has the same label; without a label its name. */
function titleOf({ name, config }: Session, sessions: readonly Session[]): string {
  const label = config?.label ?? "";
  const isShared = sessions.some((other) => other.name !== name && other.config?.label === label);
  return label === "" ? brief(name) : isShared ? `${label} (${brief(name)})` : label;
}

/** A short form of a session's name. */
function brief(name: string): string {
  const id = name.replace("sessions/", "");
  return id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id;
}
