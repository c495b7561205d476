// A person plays: placements or keys, whatever the rules have; a hint, as many steps back as there were, and an opponent.
//
// The game is on the server. Here is what a person sees of it, and a snapshot of every position, to go back to or to go on
// from when the session has run out.

import type { FirstStep, Placements, Session, Step } from "../src/index.js";
import { ActionModel, AutoresetMode, Randomizer, type RulesPreset } from "../src/protocol.js";
import { type App, type View, type Weighing, isGone } from "./app.js";
import { Board, Queue } from "./board.js";
import { Turns, button, field, grouped, h, options, select, short } from "./dom.js";
import { Field } from "./field.js";
import { Dealt, wayOf, weigh } from "./outlook.js";
import { Rival } from "./rival.js";
import { type Chosen, RulesForm, drawnSeed, isShown, seedOf } from "./rules_form.js";
import { type Cell, LETTERS } from "./tetromino.js";
import { type Judgement, cellsOf, parts } from "./weighing.js";

/** Rows above the playfield. */
const ABOVE = 4;
/** Positions that one can go back to. */
const MEMORY = 1000;
/** Milliseconds in which a piece falls one row, where the rules have key presses. */
const GRAVITY = 700;
/** The keys of the rules with key presses. */
const KEY = { idle: 0, left: 1, right: 2, turnLeft: 3, turn: 4, drop: 5 } as const;

type Act = "left" | "right" | "turn" | "turnLeft" | "down" | "drop" | "hint" | "undo" | "new";

const KEYS: Record<string, Act> = {
  ArrowLeft: "left", a: "left", ArrowRight: "right", d: "right", ArrowUp: "turn", w: "turn", x: "turn", z: "turnLeft", y: "turnLeft",
  ArrowDown: "down", s: "down", " ": "drop", Enter: "drop", h: "hint", u: "undo", Backspace: "undo", n: "new",
};

/** What a position looks like. */
interface Position {
  readonly state: Uint8Array;
  readonly field: Field;
  readonly dealt: Dealt;
  readonly lines: bigint;
  readonly pieces: bigint;
  readonly points: number;
}

/** The view. */
export class Play implements View {
  readonly root = h("div", { class: "view play" });
  private readonly board = new Board(ABOVE);
  private readonly queue = new Queue();
  private readonly next = h("section", { class: "card" }, h("h2", {}, "Next"), this.queue.element);
  private readonly form: RulesForm;
  private readonly seed = h("input", { type: "text", inputMode: "numeric", value: String(drawnSeed()), size: 6, autocomplete: "off", onchange: () => void this.begin() });
  private readonly lines = h("output", { class: "big" }, "0");
  private readonly pieces = h("output", {}, "0");
  private readonly points = h("output", {}, "0");
  private readonly spoken = h("p", { class: "only-read", "aria-live": "polite" });
  private readonly why = h("div", { class: "why" });
  private readonly helper = h("div");
  private readonly opponents = h("div");
  private readonly rival: Rival;
  /** The controller that plays beside the person; empty for none. */
  private against = "";
  private readonly undoButton = button("Undo", () => this.act("undo"));
  private readonly hintButton = button("Hint", () => this.act("hint"));
  private readonly gravity = h("input", { type: "checkbox", id: "gravity", checked: true });
  private readonly gravityField = h("div", { class: "check" }, this.gravity, h("label", { for: "gravity" }, "Pieces fall by themselves"));
  private readonly turns = new Turns();
  private session: Session | undefined;
  private field = new Field(10, 20);
  private dealt = new Dealt(Randomizer.UNIFORM);
  private past: Position[] = [];
  private placements: Placements | undefined;
  /** The placement that is aimed at, as a row. */
  private row = 0;
  private falling: Cell[] = [];
  private kind = -1;
  private over: string | undefined;
  private hint: { controller: string; weighing: Weighing } | undefined;
  private hinted: number | undefined;
  private shown = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly app: App) {
    this.form = new RulesForm(app.info, RulesForm.of(app.info.rulesPresets[0]!), () => void this.begin(), isShown);
    this.rival = new Rival(app);
    const fact = (name: string, output: HTMLElement) => h("div", { class: "fact" }, output, h("span", {}, name));
    const pad = (act: Act, text: string, name: string) => {
      const made = button(text, () => this.act(act), "key");
      made.ariaLabel = name;
      return made;
    };
    this.root.append(
      h("h1", { class: "only-read" }, "Play by hand"),
      h("div", { class: "toolbar" },
        h("div", { class: "buttons" }, button("New game", () => this.act("new"), "primary"), this.undoButton, this.hintButton),
        options(this.opponents, this.form.element, field("Seed", this.seed, "The same number deals the same pieces"))),
      h("div", { class: "table" },
        h("div", { class: "playfield" }, this.board.surface.canvas, h("div", { class: "pad" },
          pad("left", "←", "Left"), pad("turn", "↻", "Turn"), pad("right", "→", "Right"), pad("down", "↓", "Down"), pad("drop", "⤓", "Drop"))),
        this.rival.root,
        h("div", { class: "beside" },
          h("div", { class: "scores" },
            h("div", { class: "facts" }, fact("lines", this.lines), fact("pieces", this.pieces), fact("points", this.points)),
            this.rival.facts),
          this.next,
          h("section", { class: "card" }, h("h2", {}, "Hint"), this.helper, this.why),
          h("section", { class: "card keyboard" }, h("h2", {}, "Keys"), this.gravityField, h("dl", { class: "keys" },
            ...([["← →", "move"], ["↑  Z", "turn"], ["space", "drop"], ["↓", "down, where pieces fall"], ["H", "hint"], ["U", "undo"], ["N", "new game"]] as const).flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]))))),
      this.spoken);
  }

  enter(): void {
    this.shown = true;
    document.addEventListener("keydown", this.keys);
    this.timer = setInterval(() => this.fall(), GRAVITY);
    if (this.session === undefined) {
      void this.begin();
    }
  }

  leave(): void {
    this.shown = false;
    document.removeEventListener("keydown", this.keys);
    clearInterval(this.timer);
    this.app.notice(undefined);
  }

  private readonly keys = (event: KeyboardEvent): void => {
    const inControl = event.target instanceof HTMLElement && event.target.closest("input, select, dialog") !== null;
    const onButton = event.target instanceof HTMLElement && event.target.closest("button, a, summary") !== null && (event.key === " " || event.key === "Enter");
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act === undefined || inControl || onButton || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    this.act(act);
  };

  private get isKeypress(): boolean {
    return this.preset?.rules?.actionModel === ActionModel.KEYPRESS;
  }

  private get preset(): RulesPreset | undefined {
    return this.app.info.rulesPresets.find(({ name }) => name === this.form.chosen.preset);
  }

  /** Does what a person wants. */
  private act(act: Act): void {
    void this.guarded(async () => {
      if (act === "new") {
        this.seed.value = String(drawnSeed());
        await this.start();
      } else if (act === "undo") {
        await this.undo();
      } else if (this.over === undefined && this.session !== undefined) {
        if (act === "hint") {
          await this.showHint();
        } else if (this.isKeypress) {
          await this.step(KEY[act === "down" ? "idle" : act]);
        } else if (act === "drop") {
          await this.step(this.placements!.actions[this.row]!);
        } else if (act !== "down") {
          this.aim(act);
        }
      }
    });
  }

  /** Time passes, where the rules have key presses. */
  private fall(): void {
    if (this.isKeypress && this.gravity.checked && this.over === undefined && this.shown && !document.hidden && document.querySelector("dialog") === null && this.session !== undefined) {
      void this.guarded(() => this.step(KEY.idle));
    }
  }

  private begin(): Promise<void> {
    return this.guarded(() => this.start());
  }

  private async start(): Promise<void> {
    const { width, height } = this.form.chosen;
    const old = this.session;
    const seed = seedOf(this.seed.value);
    this.seed.value = String(seed);
    this.session = undefined;
    this.session = await this.open({ envSeeds: [seed] });
    void old?.delete().catch(() => undefined);
    const first = await this.session.reset();
    this.field = new Field(width, height);
    this.dealt = new Dealt(this.session.description.config?.rules?.randomizer ?? Randomizer.UNIFORM);
    this.dealt.begin(first.observations.current![0]!, [...(first.observations.queue ?? [])]);
    this.past = [];
    this.over = undefined;
    this.placements = undefined;
    this.gravityField.hidden = !this.isKeypress;
    this.next.hidden = this.form.chosen.preview === 0;
    this.root.style.setProperty("--play-ratio", String(width / (height + ABOVE)));
    this.choices(this.form.chosen);
    this.challenge();
    await this.look(first);
    await this.remember(first);
  }

  /** Begins a game beside, on the same pieces, up to where the person is; or ends it. */
  private challenge(): void {
    const { against: controller, isKeypress } = this;
    this.rival.begin(controller === "" ? undefined : { controller, isKeypress, chosen: this.form.chosen, seed: seedOf(this.seed.value) });
  }

  /** A session of what is chosen. */
  private async open(more: { envSeeds?: bigint[] } = {}): Promise<Session> {
    const { preset, width, height, preview } = this.form.chosen;
    const fields = ["board", "current", ...(preview > 0 ? ["queue"] : []), ...(this.isKeypress ? ["falling_cells"] : [])];
    const config = { rules: { preset, width, height, preview }, autoresetMode: AutoresetMode.DISABLED, observationFields: fields, infoFields: ["lines", "pieces", "episode_return"], ...more };
    return await this.app.session(config, 1800);
  }

  /** Which controllers can give hints, and play beside. */
  private choices({ width }: Chosen): void {
    const controllers = this.app.controllers(width);
    const name = controllers.find(({ name }) => name === (this.hint?.controller ?? "dellacherie"))?.name ?? controllers[0]!.name;
    const names = controllers.map(({ name }) => [name, name] as const);
    const choice = select(names, name, (name) => void this.guarded(async () => {
      await this.ask(name);
      await this.showHint();
    }));
    this.helper.replaceChildren(field("Ask", choice));
    this.against = controllers.some(({ name }) => name === this.against) ? this.against : "";
    const opponent = select([["", "nobody"], ...names], this.against, (name) => {
      this.against = name;
      this.challenge();
      this.rival.follow(Number(this.past.at(-1)?.pieces ?? 0n));
    });
    this.opponents.replaceChildren(field("Against", opponent, "A controller that gets the same pieces, and lands one for each of yours"));
    this.hint = undefined;
    this.hinted = undefined;
    this.why.replaceChildren();
    void this.guarded(() => this.ask(name));
  }

  /** Takes a controller for hints, and looks at the piece with its features. */
  private async ask(name: string): Promise<void> {
    this.hint = { controller: name, weighing: await this.app.weighing(name, this.form.chosen.width) };
    await this.enumerate();
  }

  /** Every placement of the piece in play. */
  private async enumerate(): Promise<void> {
    if (this.over === undefined) {
      const { columns, expectation } = this.hint?.weighing ?? {};
      const features = columns && { features: { features: [...columns] }, includeAfterstates: expectation !== undefined };
      this.placements = await this.session!.placements({ includeCells: true, ...features });
    }
  }

  /** Another position has come about. */
  private async look({ observations, infos }: FirstStep): Promise<void> {
    this.field.agree(observations.board!);
    this.kind = observations.current![0]!;
    this.queue.show(observations.queue ?? []);
    const cells = observations.falling_cells;
    this.falling = cells === undefined ? [] : [0, 2, 4, 6].map((at): Cell => [cells[at]!, cells[at + 1]!]);
    this.lines.textContent = grouped(infos.lines![0]!);
    this.pieces.textContent = grouped(infos.pieces![0]!);
    this.points.textContent = short(infos.episode_return![0]!);
    this.undoButton.disabled = this.past.length < 2;
    if (!this.isKeypress || this.placements === undefined) {
      this.hinted = undefined;
      this.why.replaceChildren();
      await this.enumerate();
      this.row = this.middle();
    }
    this.draw();
  }

  /** The placement to begin with: the first orientation, in the middle. */
  private middle(): number {
    const { width } = this.form.chosen;
    const placements = [...(this.placements?.placements ?? [])];
    const first = placements.filter((placement) => placement < width);
    const wanted = first[first.length >> 1] ?? placements[0] ?? 0;
    return Math.max(0, placements.indexOf(wanted));
  }

  /** Moves or turns what is aimed at. */
  private aim(act: "left" | "right" | "turn" | "turnLeft"): void {
    const { width } = this.form.chosen;
    const placements = [...this.placements!.placements];
    const [orientation, column] = [Math.floor(placements[this.row]! / width), placements[this.row]! % width];
    const orientations = [...new Set(placements.map((placement) => Math.floor(placement / width)))];
    let next: number | undefined;
    if (act === "left" || act === "right") {
      const steps = placements.filter((placement) => Math.floor(placement / width) === orientation && (act === "left" ? placement % width < column : placement % width > column));
      next = act === "left" ? steps.at(-1) : steps[0];
    } else {
      // Orientations are numbered counter-clockwise in most tables; a turn goes to the next one that exists.
      const by = act === "turn" ? orientations.length - 1 : 1;
      const wanted = orientations[(orientations.indexOf(orientation) + by) % orientations.length]!;
      const there = placements.filter((placement) => Math.floor(placement / width) === wanted);
      next = there.reduce((best, placement) => (Math.abs((placement % width) - column) < Math.abs((best % width) - column) ? placement : best));
    }
    if (next !== undefined) {
      this.row = placements.indexOf(next);
    }
    this.draw();
    this.say(this.aimed());
  }

  /** What is aimed at, in words. */
  private aimed(): string {
    const cells = cellsOf(this.placements!, this.row);
    const columns = cells.map(([, column]) => column + 1);
    const lines = this.placements!.lines[this.row]!;
    const clears = lines > 0 ? `, clears ${lines} ${lines === 1 ? "line" : "lines"}` : "";
    const ends = this.placements!.terminal[this.row] === 1 ? ", ends the game" : "";
    return `${LETTERS[this.kind]}, columns ${Math.min(...columns)} to ${Math.max(...columns)}, rests on row ${Math.min(...cells.map(([row]) => row)) + 1}${clears}${ends}`;
  }

  /** Does an action. */
  private async step(action: number): Promise<void> {
    const { placements, row, kind, falling } = this;
    const before = Number(this.past.at(-1)?.pieces ?? 0n);
    const step = await this.alive((session) => session.step([action]));
    const board = step.observations.board!;
    const landed = Number(step.infos.pieces![0]!) > before;
    if (this.isKeypress) {
      if (landed) {
        const cells = this.field.landing(kind, falling, board);
        if (cells !== undefined) {
          this.field.land(kind, cells, true);
        }
        this.placements = undefined;
      }
    } else {
      const lost = placements!.terminal[row] === 1;
      this.field.land(kind, cellsOf(placements!, row), !lost || placements!.lines[row]! > 0);
    }
    if (landed) {
      this.dealt.go(step.observations.current![0]!, [...(step.observations.queue ?? [])]);
      this.rival.follow(Number(step.infos.pieces![0]!));
    }
    if (step.terminated[0] === 1 || step.truncated[0] === 1) {
      this.over = `The game is over\n${grouped(step.infos.lines![0]!)} lines, ${grouped(step.infos.pieces![0]!)} pieces`;
    }
    await this.look(step);
    if (landed) {
      this.say(this.over?.replace("\n", ": ") ?? `${grouped(step.infos.lines![0]!)} lines. Now ${LETTERS[this.kind]}`);
      await this.remember(step);
    }
  }

  /** Keeps the position. The last one is the present. */
  private async remember({ infos }: FirstStep | Step): Promise<void> {
    const [state] = await this.session!.save();
    this.past.push({ state: state!, field: this.field.copy(), dealt: this.dealt.copy(), lines: infos.lines![0]!, pieces: infos.pieces![0]!, points: infos.episode_return![0]! });
    this.past.splice(0, this.past.length - MEMORY);
    this.undoButton.disabled = this.past.length < 2;
  }

  /** Goes back by one piece. */
  private async undo(): Promise<void> {
    if (this.past.length < 2) {
      return;
    }
    const now = this.past.pop()!;
    const then = this.past.at(-1)!;
    try {
      const restored = await this.alive((session) => session.restore({ states: [then.state] }));
      this.field = then.field.copy();
      this.dealt = then.dealt.copy();
      this.rival.follow(Number(then.pieces));
      this.over = undefined;
      this.placements = undefined;
      await this.look(restored);
    } catch (problem) {
      this.past.push(now);
      throw problem;
    }
    this.undoButton.disabled = this.past.length < 2;
    this.say(`Back to piece ${grouped(then.pieces)}`);
  }

  /** What the controller would do, and why. */
  private async showHint(): Promise<void> {
    const { hint, placements, dealt } = this;
    const rules = this.session?.description.config?.rules;
    if (hint === undefined || rules === undefined || placements?.features === undefined || this.over !== undefined) {
      return;
    }
    const { best, first, values }: Judgement = await weigh(this.app.server, rules, hint.weighing, placements, 0, dealt);
    this.hinted = best;
    const terms = parts(hint.weighing, placements, best);
    const rows = terms.map(({ name, feature, weight }) =>
      h("tr", {}, h("th", { scope: "row" }, name.replaceAll("_", " ")), h("td", {}, short(feature)), h("td", {}, short(weight)), h("td", {}, short(feature * weight))));
    const head = h("tr", {}, ...["feature", "is", "weight", "adds"].map((name) => h("th", { scope: "col" }, name)));
    const total = terms.reduce((sum, { feature, weight }) => sum + feature * weight, 0);
    const foot = (name: string, number: number) => h("tr", {}, h("th", { scope: "row" }, name), h("td"), h("td"), h("td", {}, short(number)));
    const { weighs, more } = wayOf(hint.weighing.expectation, this.form.chosen.preview);
    const feet = weighs ? [foot("in all", total), foot("with what follows", values[best - first]!)] : [foot("in all", total)];
    this.why.replaceChildren(h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows), h("tfoot", {}, ...feet)), h("p", { class: "source" }, more));
    this.draw();
    const columns = cellsOf(placements, best).map(([, column]) => column + 1);
    this.say(`${hint.controller} would take columns ${Math.min(...columns)} to ${Math.max(...columns)}`);
  }

  private draw(): void {
    const { width, height } = this.form.chosen;
    const { placements, field, over } = this;
    const hint = this.hinted === undefined || placements === undefined ? undefined : cellsOf(placements, this.hinted);
    let piece: { kind: number; cells: readonly Cell[] } | undefined;
    let ghost: readonly Cell[] | undefined;
    if (over === undefined && this.isKeypress) {
      piece = { kind: this.kind, cells: this.falling };
      ghost = this.dropped();
    } else if (over === undefined && placements !== undefined && placements.actions.length > 0) {
      ghost = cellsOf(placements, this.row);
      const low = Math.min(...ghost.map(([row]) => row));
      piece = { kind: this.kind, cells: ghost.map(([row, column]): Cell => [row - low + height, column]) };
    }
    this.board.show({ width, height, cells: field.cells, last: field.last, piece, ghost, hint, words: over });
    this.board.surface.label = `Playfield, ${width} by ${height}: ${this.lines.textContent} lines, ${this.pieces.textContent} pieces, filled up to row ${field.top}`;
  }

  /** Where the falling piece comes to rest if it is dropped now. */
  private dropped(): Cell[] {
    const { width } = this.form.chosen;
    let cells = this.falling;
    const free = ([row, column]: Cell) => row >= 0 && (this.field.cells[row * width + column] ?? 0) === 0;
    for (;;) {
      const below = cells.map(([row, column]): Cell => [row - 1, column]);
      if (cells.length === 0 || !below.every(free)) {
        return cells;
      }
      cells = below;
    }
  }

  private say(text: string): void {
    this.spoken.textContent = text;
  }

  /** A call on the session. If it is gone, the game goes on in a new one, from the last position. */
  private async alive<T>(call: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await call(this.session!);
    } catch (problem) {
      const last = this.past.at(-1);
      if (!isGone(problem) || last === undefined) {
        throw problem;
      }
      this.session = await this.open();
      await this.session.restore({ states: [last.state] });
      return await call(this.session);
    }
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await this.turns.take(work);
      this.app.notice(undefined);
    } catch (problem) {
      if (isGone(problem)) {
        this.session = undefined;
        void this.begin();
      } else {
        this.app.notice(problem);
      }
    }
  }
}
