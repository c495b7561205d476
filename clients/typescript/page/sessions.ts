// The sessions that this caller may see, and their games while learners step them. Only looks: no call here changes a
// session or keeps one alive.

import type { Session, WatchFrame, WatchStarted, WatchedEnv } from "../src/protocol.js";
import { ActionModel, EpisodePhase } from "../src/protocol.js";
import { type App, type View, inWords, isGone, isSilence } from "./app.js";
import { Board, Side } from "./board.js";
import { LineChart } from "./charts.js";
import { field, grouped, h, select, short, sleep } from "./dom.js";
import { ABOVE, isOfTetrominoes, sizeInWords, visibleRows } from "./rules.js";
import { type Cell, LETTERS, lifted } from "./tetromino.js";

/** Milliseconds between two looks at the list, and between two tries to reach a server. */
const PATIENCE = 2000;
/** Frames a second of few boards, and of many. */
const [QUICK, SLOW] = [20, 8];
/** So many boards have room for the pieces beside them. */
const ROOMY = 4;
/** Episodes of which the chart shows the mean. */
const WINDOW = 50;
/** Points of the chart. */
const POINTS = 400;

/** A board and what is said below it. */
interface Shown {
  readonly board: Board;
  /** The pieces beside it, where there is room for them. */
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
  private readonly chart = new LineChart("Lines of the episodes that ended");
  private readonly learned = h("section", { class: "card", hidden: true }, h("h2", {}, `Lines of episodes that ended, mean of the last ${WINDOW}`), this.chart.surface.canvas);
  private readonly watched = h("section", { class: "card watched" });
  private readonly number: HTMLSelectElement;
  private boards: Shown[] = [];
  private name: string | undefined;
  private stop: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private listed = "";
  private readonly numEnvs = new Map<string, number>();
  private started: WatchStarted | undefined;
  private last: { sequence: bigint; at: number } | undefined;
  private stepsPerSecond = NaN;
  /** Lines of the episodes that ended, as far as frames have shown them. */
  private ended: number[] = [];
  private episodes = new Map<number, string>();
  private points: { x: number; y: number }[] = [];

  constructor(private readonly app: App) {
    this.number = select(["1", "4", "16", "64"].map((number) => [number, number] as const), "16", () => this.name !== undefined && this.watch(this.name));
    const head = h("div", { class: "row watched-head" }, this.title, field("Boards", this.number));
    this.watched.append(head, this.facts, this.grid, this.remark);
    this.watched.hidden = true;
    this.root.append(
      h("h1", {}, "Sessions"),
      h("p", { class: "lead" }, "What learners do on this server, as they do it. Watching does not slow them down."),
      h("div", { class: "columns" }, h("section", { class: "card" }, h("h2", {}, "Sessions that you may see"), this.list), h("div", {}, this.watched, this.learned)));
  }

  enter(): void {
    if (!this.app.can("watch")) {
      this.list.replaceChildren(h("p", { class: "remark" }, "This server is older than the page and cannot show sessions."));
      return;
    }
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

  /** Lists the sessions, again and again. */
  private async look(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), PATIENCE);
    const sessions: Session[] = [];
    try {
      for await (const session of this.app.server.sessions()) {
        sessions.push(session);
      }
      this.app.notice(undefined);
    } catch (problem) {
      this.app.notice(problem);
      return;
    }
    sessions.forEach(({ name, config }) => this.numEnvs.set(name, config?.numEnvs ?? 1));
    const others = sessions.filter(({ name }) => !this.app.own.has(name));
    this.show(others);
    const only = others.at(-1);
    if (this.name === undefined && only !== undefined) {
      this.watch(only.name);
    }
  }

  private show(sessions: readonly Session[]): void {
    const now = JSON.stringify([this.name, sessions.map(({ name, sequence }) => [name, String(sequence)])]);
    if (now === this.listed) {
      return;
    }
    this.listed = now;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["session"] : undefined;
    const rows = sessions.map(({ name, config, sequence, createTime }) => {
      const { numEnvs = 1, rules } = config ?? {};
      const since = createTime === undefined ? "" : `, since ${new Date(Number(createTime.seconds) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false })}`;
      const what = rules === undefined ? "" : `${rules.preset} ${sizeInWords(rules)}`;
      const row = h("button", { type: "button", class: "session", role: "radio", "aria-checked": String(name === this.name), "data-session": name, onclick: () => this.watch(name) },
        h("strong", {}, brief(name)), h("span", {}, `${grouped(numEnvs)} ${numEnvs === 1 ? "environment" : "environments"}, ${what}`), h("span", {}, `${grouped(sequence)} ${sequence === 1n ? "call" : "calls"}${since}`));
      return row;
    });
    const none = h("p", { class: "remark" }, "There is none at the moment, besides those of this page. Sessions that a learner makes appear here by themselves.");
    this.list.replaceChildren(...(rows.length > 0 ? rows : [none]));
    if (focused !== undefined) {
      rows.find((row) => row.dataset["session"] === focused)?.focus();
    }
  }

  /** Watches a session from now on. */
  private watch(name: string): void {
    this.stop?.abort();
    const stop = (this.stop = new AbortController());
    if (name !== this.name) {
      this.name = name;
      [this.ended, this.points] = [[], []];
      this.episodes.clear();
      this.learned.hidden = true;
    }
    [this.last, this.stepsPerSecond] = [undefined, NaN];
    this.watched.hidden = false;
    this.title.textContent = brief(name);
    this.remark.textContent = "";
    for (const row of this.list.querySelectorAll<HTMLElement>("[data-session]")) {
      row.ariaChecked = String(row.dataset["session"] === name);
    }
    void this.follow(name, stop.signal);
  }

  private async follow(name: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const number = Number(this.number.value);
      try {
        const envIds = Array.from({ length: Math.min(number, this.numEnvs.get(name) ?? 1) }, (_, env) => env);
        const request = { session: name, envIds, maxFramesPerSecond: number > 16 ? SLOW : QUICK };
        for await (const event of this.app.server.watch(request, { signal })) {
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
          this.remark.textContent = "The session has ended.";
          this.name = undefined;
          this.listed = "";
          return;
        }
        if (!isSilence(problem)) {
          this.remark.textContent = inWords(problem);
        }
      }
      await sleep(PATIENCE);
    }
  }

  private begin(started: WatchStarted): void {
    this.started = started;
    this.boards.forEach(({ board }) => board.surface.drop());
    const { rules } = started.session?.config ?? {};
    const above = (rules?.rowsAbove ?? 0) > 0 ? ABOVE : 0;
    this.boards.forEach(({ side }) => side?.drop());
    this.boards = started.envIds.map((env) => {
      const board = new Board(above, `Environment ${env}`);
      const side = started.envIds.length <= ROOMY && rules !== undefined ? new Side() : undefined;
      side?.begin(rules!);
      const words = h("span", { class: "number" });
      return { board, side, words, tile: h("figure", { class: "tile" }, board.surface.canvas, h("figcaption", {}, h("span", {}, `${env}`), words), side?.element) };
    });
    this.grid.replaceChildren(...this.boards.map(({ tile }) => tile));
    this.grid.dataset["boards"] = this.number.value;
  }

  private frame({ sequence, envs }: WatchFrame): void {
    const now = performance.now();
    if (this.last !== undefined && now - this.last.at > 900) {
      this.stepsPerSecond = (Number(sequence - this.last.sequence) / (now - this.last.at)) * 1000;
      this.last = { sequence, at: now };
    }
    this.last ??= { sequence, at: now };
    envs.forEach((env, at) => this.board(env, this.boards[at]));
    const mean = this.ended.length === 0 ? NaN : average(this.ended.slice(-WINDOW));
    const fact = (value: string, name: string) => h("div", { class: "fact" }, h("output", {}, value), h("span", {}, name));
    const all = this.started?.session?.config?.numEnvs ?? envs.length;
    this.facts.replaceChildren(
      fact(Number.isFinite(this.stepsPerSecond) ? short(this.stepsPerSecond) : "–", "calls a second"),
      fact(Number.isFinite(this.stepsPerSecond) ? short(this.stepsPerSecond * all) : "–", `steps a second, if all ${grouped(all)} step`),
      fact(grouped(this.ended.length), "episodes seen ending"),
      fact(short(mean), `lines, mean of the last ${Math.min(WINDOW, Math.max(1, this.ended.length))}`));
    this.learned.hidden = this.points.length < 2;
    this.chart.show([{ name: "lines", ink: "--series-1", points: this.points }], { across: "episodes", up: "lines" });
  }

  private board(env: WatchedEnv, shown: Shown | undefined): void {
    const { rules } = this.started?.session?.config ?? {};
    if (shown === undefined || rules?.width === undefined || rules.height === undefined) {
      return;
    }
    // Other pieces have letters of their own, and no drawings here: what is to come of them is not shown.
    const isUsual = isOfTetrominoes(rules);
    const numberOf = (letter: string) => (isUsual && letter !== "" ? LETTERS.indexOf(letter) : -1);
    const kind = numberOf(env.piece);
    const { width, height: rows } = rules;
    const height = visibleRows(rules);
    const words = { [EpisodePhase.NOT_STARTED]: "waits", [EpisodePhase.TERMINATED]: "topped out", [EpisodePhase.TRUNCATED]: "cut" }[env.phase as number];
    const isFalling = rules.actionModel === ActionModel.KEYPRESS;
    const isDrawn = env.piece !== "" && (isFalling || height < rows);
    const piece = isDrawn ? { kind, cells: isFalling ? pairs(env.pieceCells) : lifted(pairs(env.pieceCells), height) } : undefined;
    shown.board.show({
      width,
      height,
      cells: env.cells.length === width * rows ? env.cells : new Uint8Array(width * rows),
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
      // An episode that ended is in every frame until the next one has.
      const seen = `${lastEpisode.episode} ${lastEpisode.length} ${lastEpisode.lines}`;
      if (this.episodes.get(env.envId) !== seen) {
        this.episodes.set(env.envId, seen);
        this.ended.push(Number(lastEpisode.lines));
        this.points.push({ x: this.ended.length, y: average(this.ended.slice(-WINDOW)) });
        if (this.points.length > 2 * POINTS) {
          this.points = this.points.filter((_, at) => at % 2 === 1);
        }
      }
    }
  }
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function pairs(numbers: readonly number[]): Cell[] {
  return Array.from({ length: numbers.length / 2 }, (_, at): Cell => [numbers[2 * at]!, numbers[2 * at + 1]!]);
}

/** A session's name without what all names have, and not longer than a person compares. */
function brief(name: string): string {
  const id = name.replace("sessions/", "");
  return id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id;
}
