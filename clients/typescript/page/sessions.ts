// The view "Sessions": the sessions of this caller, their live games, and the curves of ended sessions. No call here changes a
// session or renews its lease.

import type { Session, WatchFrame, WatchStarted, WatchedEnv } from "../src/protocol.js";
import { ActionModel, EpisodeEnd } from "../src/protocol.js";
import type { Choices, Reader } from "./address.js";
import { type App, type View, inWords, isGone, isSilence } from "./app.js";
import { Board, Side } from "./board.js";
import { LineChart } from "./charts.js";
import { field, grouped, h, select, short, sleep } from "./dom.js";
import { ABOVE, isOfTetrominoes, sizeInWords, visibleRows } from "./rules.js";
import { Run, WINDOW, keepRuns, keptRuns } from "./runs.js";
import { Snippets } from "./snippets.js";
import { type Cell, LETTERS, lifted } from "./tetromino.js";

/** Milliseconds between two updates of the list, and between two attempts to reach a server. */
const PATIENCE = 2000;
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
  private readonly grid = h("div", { class: "boards" });
  private readonly facts = h("div", { class: "facts" });
  private readonly title = h("h2", {}, "");
  private readonly remark = h("p", { class: "remark", "aria-live": "polite" });
  private readonly chart = new LineChart("Lines of finished episodes");
  private readonly legend = h("p", { class: "legend-line" });
  private readonly learned = h("section", { class: "card", hidden: true }, h("h2", {}, `Lines of finished episodes, mean of the last ${WINDOW}`), this.chart.surface.canvas, this.legend);
  private readonly watched = h("section", { class: "card watched", hidden: true });
  private readonly empty: HTMLElement;
  private readonly number: HTMLSelectElement;
  private boards: Shown[] = [];
  private name: string | undefined;
  private stop: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private listed = "";
  private readonly numEnvs = new Map<string, number>();
  private started: WatchStarted | undefined;
  private last: { sequenceNumber: bigint; at: number } | undefined;
  private stepsPerSecond = NaN;
  /** Observed episodes of each session by its name, the oldest first. */
  private readonly runs: Map<string, Run>;
  /** Whether the user has chosen the watched session. */
  private isChosen: boolean;

  constructor(private readonly app: App, address: Reader) {
    this.runs = new Map(keptRuns().map((run) => [run.name, run]));
    this.number = select(BOARDS.map((number) => [number, number] as const), address.oneOf("boards", BOARDS) ?? "16", () => {
      this.app.changed();
      if (this.name !== undefined) {
        this.watch(this.name);
      }
    });
    const id = address.text("session");
    this.name = id === undefined ? undefined : `sessions/${id}`;
    this.isChosen = id !== undefined;
    this.watched.append(h("div", { class: "row watched-head" }, this.title, field("Boards", this.number)), this.facts, this.grid, this.remark);
    this.empty = h("section", { class: "card" },
      h("h2", {}, "No learner has a session here"),
      h("p", {}, "Start one with these lines, and its games appear here:"),
      new Snippets(app).element);
    this.root.append(
      h("h1", {}, "Sessions"),
      h("p", { class: "lead" }, "Live games of the learners on this server. Watching does not slow them down."),
      h("div", { class: "columns" }, h("section", { class: "card" }, h("h2", {}, "Visible sessions"), this.list), h("div", {}, this.empty, this.watched, this.learned)));
    addEventListener("pagehide", () => keepRuns(this.runs.values()));
  }

  choices(): Choices {
    const { name, number } = this;
    return { ...(name !== undefined && this.isChosen && { session: name.replace("sessions/", "") }), ...(number.value !== "16" && { boards: number.value }) };
  }

  enter(): void {
    void this.look();
    if (this.name !== undefined) {
      this.watch(this.name);
    }
  }

  leave(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.stop?.abort();
    this.app.notice(undefined);
  }

  /** Updates the list of sessions periodically. */
  private async look(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), PATIENCE);
    const sessions: Session[] = [];
    try {
      for await (const session of this.app.client.listSessions()) {
        sessions.push(session);
      }
      this.app.notice(undefined);
    } catch (problem) {
      this.app.notice(problem);
      return;
    }
    sessions.forEach(({ name, config }) => this.numEnvs.set(name, config?.numEnvs ?? 1));
    const others = sessions.filter(({ name }) => !this.app.own.has(name));
    for (const [name, run] of this.runs) {
      run.isOver = !sessions.some((session) => session.name === name);
    }
    this.show(others);
    // Watch the newest session. An ended one stays on the screen until a learner begins another.
    const newest = others.at(-1);
    const isFree = this.name === undefined || (!this.isChosen && this.runs.get(this.name)?.isOver !== false);
    if (newest !== undefined && isFree && !this.runs.has(newest.name)) {
      this.watch(newest.name);
    } else if (this.name === undefined && this.runs.size > 0) {
      this.watch([...this.runs.keys()].at(-1)!);
    }
  }

  private show(sessions: readonly Session[]): void {
    const ended = [...this.runs.values()].filter(({ name, points }) => points.length > 1 && !sessions.some((session) => session.name === name));
    this.empty.hidden = sessions.length > 0 || this.name !== undefined;
    const now = JSON.stringify([this.name, sessions.map(({ name, sequenceNumber }) => [name, String(sequenceNumber)]), ended.map(({ name, count }) => [name, count])]);
    if (now === this.listed) {
      return;
    }
    this.listed = now;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["session"] : undefined;
    const row = (name: string, ...words: string[]) =>
      h("button", { type: "button", class: "session", role: "radio", "aria-checked": String(name === this.name), "data-session": name, onclick: () => this.choose(name) },
        h("strong", {}, brief(name)), ...words.map((text) => h("span", {}, text)));
    const rows = [
      ...sessions.map((session) => {
        const { name, sequenceNumber, createTime } = session;
        const since = createTime === undefined ? "" : `, since ${new Date(Number(createTime.seconds) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false })}`;
        return row(name, inWordsOf(session), `${grouped(sequenceNumber)} ${sequenceNumber === 1n ? "call" : "calls"}${since}`);
      }),
      ...ended.map(({ name, what, count }) => row(name, what, `has ended; ${grouped(count)} episodes seen`)),
    ];
    const none = h("p", { class: "remark" }, "No sessions at the moment, apart from this page's own.");
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
    [this.last, this.stepsPerSecond] = [undefined, NaN];
    this.empty.hidden = true;
    this.watched.hidden = false;
    this.title.textContent = brief(name);
    this.remark.textContent = "";
    for (const row of this.list.querySelectorAll<HTMLElement>("[data-session]")) {
      row.ariaChecked = String(row.dataset["session"] === name);
    }
    this.draw();
    void this.follow(name, stop.signal);
  }

  /** Draws the curve of the watched session over the curves of ended ones. */
  private draw(): void {
    const run = this.runs.get(this.name ?? "");
    const earlier = [...this.runs.values()].filter((other) => other !== run && other.isOver && other.points.length > 1);
    const lines = [...earlier, ...(run === undefined || run.points.length < 2 ? [] : [run])];
    this.learned.hidden = lines.length === 0;
    const ink = (other: Run) => (other === run ? 1 : 6);
    this.chart.show(lines.map((line) => ({ name: line.name, ink: `--series-${ink(line)}`, points: line.points })), { across: "episodes", up: "lines" });
    const legend = lines.map((line) => `${ink(line)} ${brief(line.name)}${line.isOver ? ", ended" : ""}`).reverse();
    if (this.legend.dataset["lines"] !== String(legend)) {
      this.legend.dataset["lines"] = String(legend);
      this.legend.replaceChildren(...legend.flatMap((line) => [h("span", { class: `swatch series-${line[0]}` }), line.slice(2)]));
    }
    this.chart.surface.label = run === undefined ? "Lines of finished episodes" : `Lines of finished episodes of ${brief(run.name)}: ${grouped(run.count)} episodes, ${short(run.points.at(-1)?.y ?? NaN)} lines at the end`;
  }

  private async follow(name: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const number = Number(this.number.value);
      try {
        const envIds = Array.from({ length: Math.min(number, this.numEnvs.get(name) ?? 1) }, (_, env) => env);
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
    const hasCurve = run !== undefined && run.points.length > 1;
    this.remark.textContent = `The session has ended.${hasCurve ? " Its curve stays while this tab is open." : ""}`;
    this.listed = "";
    keepRuns(this.runs.values());
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
    if (session !== undefined && !this.runs.has(session.name)) {
      this.runs.set(session.name, new Run(session.name, inWordsOf(session)));
    }
    const { rules } = session?.config ?? {};
    const above = (rules?.rowsAbove ?? 0) > 0 ? ABOVE : 0;
    this.clearBoards();
    this.boards = started.envIds.map((env) => {
      const board = new Board(above, `Environment ${env}`);
      const side = started.envIds.length <= ROOMY && rules !== undefined ? new Side() : undefined;
      side?.begin(rules!);
      const words = h("span", { class: "number" });
      return { board, side, words, tile: h("figure", { class: "tile" }, board.surface.canvas, h("figcaption", {}, h("span", {}, `${env}`), words), side && h("div", { class: "side" }, side.hold, side.queue)) };
    });
    this.grid.replaceChildren(...this.boards.map(({ tile }) => tile));
    if (rules?.width !== undefined) {
      this.grid.style.setProperty("--ratio", String(rules.width / (visibleRows(rules) + above)));
    }
    // The number of boards decides their size.
    this.grid.dataset["boards"] = BOARDS.find((most) => this.boards.length <= Number(most));
  }

  private frame({ sequenceNumber, envs }: WatchFrame): void {
    const now = performance.now();
    if (this.last !== undefined && now - this.last.at > 900) {
      this.stepsPerSecond = (Number(sequenceNumber - this.last.sequenceNumber) / (now - this.last.at)) * 1000;
      this.last = { sequenceNumber, at: now };
    }
    this.last ??= { sequenceNumber, at: now };
    envs.forEach((env, at) => this.board(env, this.boards[at]));
    const { count = 0, mean = NaN } = this.runs.get(this.name ?? "") ?? {};
    const fact = (value: string, name: string) => h("div", { class: "fact" }, h("output", {}, value), h("span", {}, name));
    const all = this.started?.session?.config?.numEnvs ?? envs.length;
    this.facts.replaceChildren(
      fact(Number.isFinite(this.stepsPerSecond) ? short(this.stepsPerSecond) : "–", "calls per second"),
      ...(all > 1 ? [fact(Number.isFinite(this.stepsPerSecond) ? short(this.stepsPerSecond * all) : "–", `steps per second, if all ${grouped(all)} step`)] : []),
      fact(grouped(count), count === 1 ? "finished episode seen" : "finished episodes seen"),
      ...(count > 0 ? [fact(short(mean), count === 1 ? "lines in it" : `lines, mean of the last ${Math.min(WINDOW, count)}`)] : []));
    this.draw();
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
    });
    shown.side?.show({ held: numberOf(env.held), next: [...env.queue].map(numberOf) });
    shown.words.textContent = `${grouped(env.lines)} ${env.lines === 1n ? "line" : "lines"}`;
    shown.board.surface.label = `Environment ${env.envId}: ${grouped(env.lines)} lines, ${grouped(env.pieces)} pieces${env.held === "" ? "" : `, ${env.held} held`}`;
    const { lastEpisode } = env;
    if (lastEpisode !== undefined) {
      this.runs.get(this.name ?? "")?.saw(env.envId, `${lastEpisode.episode} ${lastEpisode.steps} ${lastEpisode.lines}`, Number(lastEpisode.lines));
    }
  }
}

/** Description of a session in words. */
function inWordsOf({ config }: Session): string {
  const { numEnvs = 1, rules } = config ?? {};
  const what = rules === undefined ? "" : `, ${rules.preset} ${sizeInWords(rules)}`;
  return `${grouped(numEnvs)} ${numEnvs === 1 ? "environment" : "environments"}${what}`;
}

function pairs(numbers: readonly number[]): Cell[] {
  return Array.from({ length: numbers.length / 2 }, (_, at): Cell => [numbers[2 * at]!, numbers[2 * at + 1]!]);
}

/** A short form of a session's name. */
function brief(name: string): string {
  const id = name.replace("sessions/", "");
  return id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id;
}
