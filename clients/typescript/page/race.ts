// Two controllers on the same pieces, side by side: what they see, what they choose, and what their weights do.

import type { Observations, Placements, Session } from "../src/index.js";
import { AutoresetMode, Randomizer } from "../src/protocol.js";
import { type App, type View, type Weighing, isGone, isSilence } from "./app.js";
import { Board } from "./board.js";
import { Turns, button, field, grouped, h, options, select, sleep } from "./dom.js";
import { Field } from "./field.js";
import { Heat } from "./heat.js";
import { Dealt, wayOf, weigh } from "./outlook.js";
import { type Chosen, RulesForm, drawnSeed, isPlacement, isShown, seedOf } from "./rules_form.js";
import { Sliders } from "./sliders.js";
import type { Cell } from "./tetromino.js";
import { type Judgement, cellsOf, parts, union, warmth } from "./weighing.js";

/** Rows above the playfield, for the piece in play. */
const ABOVE = 4;
/** Pieces a second from the left end of the slider to the right one. */
const SPEEDS = [1, 2, 4, 8, 15, 30, 60, Infinity];
/** How long the end of a game is shown, in milliseconds. */
const PAUSE = 3000;
/** After how long a server that did not answer is asked again. */
const PATIENCE = 2000;

/** One of the two. */
class Lane {
  readonly board = new Board(ABOVE);
  readonly heat = new Heat();
  readonly sliders: Sliders;
  readonly lines = h("output", { class: "big" }, "0");
  readonly pieces = h("output", {}, "0");
  readonly top = h("output", {}, "0");
  readonly select = h("div", { class: "controller" });
  readonly source = h("p", { class: "source" });
  /** How the controller plays. */
  readonly way = h("span", { class: "way" });
  controller: Weighing | undefined;
  field = new Field(10, 20);
  dealt = new Dealt(Randomizer.UNIFORM);
  kind = -1;
  chosen: { row: number; cells: Cell[]; judgement: Judgement } | undefined;
  over: string | undefined;

  constructor(readonly side: "A" | "B", public name: string, changed: (lane: Lane) => void) {
    this.sliders = new Sliders(side, () => changed(this));
  }

  get element(): HTMLElement {
    const fact = (name: string, output: HTMLElement) => h("div", { class: "fact" }, output, h("span", {}, name));
    const facts = h("div", { class: "facts" }, fact("lines", this.lines), fact("pieces", this.pieces), fact("height", this.top));
    const legend = h("div", { class: "legend", "aria-hidden": "true" }, h("span", {}, "worse"), h("i", {}), h("span", {}, "better"));
    const field = h("div", { class: "playfield" }, this.board.surface.canvas, this.heat.surface.canvas, legend);
    const weights = h("details", { class: "weights", open: matchMedia("(min-width: 60rem)").matches }, h("summary", {}, `Weights of ${this.side}`), this.source, this.sliders.element);
    return h("section", { class: `lane lane-${this.side.toLowerCase()}`, "aria-label": `Player ${this.side}` }, this.select, h("div", { class: "stage" }, field, facts), weights);
  }
}

/** The view. */
export class Race implements View {
  readonly root = h("div", { class: "view race" });
  private readonly lanes: readonly [Lane, Lane];
  private readonly form: RulesForm;
  private readonly seed = h("input", { type: "text", inputMode: "numeric", value: "1", size: 6, autocomplete: "off", onchange: () => void this.begin() });
  private readonly play = button("Pause", () => this.toggle(), "primary");
  private readonly differ = h("p", { class: "remark" });
  private session: Session | undefined;
  private states: Uint8Array[] | undefined;
  private placements: Placements | undefined;
  /** The environments that are in the answer. */
  private asked: readonly number[] = [];
  private speed = 3;
  private running = true;
  private shown = false;
  /** Counts games, so that a loop notices that its game is not played any more. */
  private game = 0;
  private pieces = 0;
  private firstDifference = 0;
  /** Whether weights have changed since the choices were made. */
  private stale = false;
  private readonly turns = new Turns();

  constructor(private readonly app: App) {
    const first = app.info.rulesPresets[0]!;
    const named = (wanted: string, other: number) => (app.info.controllers.some(({ name }) => name === wanted) ? wanted : app.info.controllers[other]!.name);
    this.lanes = [new Lane("A", named("dellacherie", 0), (lane) => this.changed(lane)), new Lane("B", named("bcts", 1), (lane) => this.changed(lane))];
    // Ten rows, as in much of the literature: good controllers lose there, and one sees why.
    this.form = new RulesForm(app.info, { ...RulesForm.of(first), height: 10 }, () => void this.begin(), (preset) => isPlacement(preset) && isShown(preset));
    const speeds = h("input", { type: "range", min: "0", max: String(SPEEDS.length - 1), step: "1", value: String(this.speed), oninput: () => (this.speed = Number(speeds.value)) });
    const toolbar = h("div", { class: "toolbar" },
      h("div", { class: "buttons" }, this.play, button("Step", () => void this.single()), button("New game", () => this.next())),
      field("Speed", speeds, "Pieces a second"),
      options(this.form.element, field("Seed", this.seed, "The same number deals the same pieces")),
      this.differ);
    this.root.append(
      h("h1", { class: "only-read" }, "Two controllers on the same pieces"),
      toolbar,
      h("div", { class: "lanes" }, ...this.lanes.map((lane) => lane.element)));
  }

  enter(): void {
    this.shown = true;
    document.addEventListener("keydown", this.keys);
    if (this.session === undefined) {
      void this.begin();
    } else if (this.running) {
      void this.loop();
    }
  }

  leave(): void {
    this.shown = false;
    document.removeEventListener("keydown", this.keys);
    this.app.notice(undefined);
  }

  private readonly keys = (event: KeyboardEvent): void => {
    const inControl = event.target instanceof HTMLElement && event.target.closest("input, select, button, summary, a, dialog") !== null;
    if (inControl || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const act = { " ": () => this.toggle(), "ArrowRight": () => void this.single(), "n": () => this.next() }[event.key];
    if (act !== undefined) {
      event.preventDefault();
      act();
    }
  };

  private toggle(): void {
    this.running = !this.running;
    this.play.textContent = this.running ? "Pause" : "Play";
    if (this.running) {
      void this.loop();
    } else {
      void this.keep();
    }
  }

  /** One piece, and then a pause. */
  private async single(): Promise<void> {
    if (this.running) {
      this.toggle();
    }
    await this.guarded(() => this.advance(this.game));
  }

  private next(): void {
    this.seed.value = String(drawnSeed());
    void this.begin();
  }

  /** A new game with what is chosen. */
  private async begin(): Promise<void> {
    const game = ++this.game;
    const done = await this.guarded(async () => {
      if (game !== this.game) {
        return; // another one was asked for meanwhile
      }
      const { preset, width, height, preview } = this.form.chosen;
      const old = this.session;
      this.session = undefined;
      await this.choices(this.form.chosen);
      const seed = seedOf(this.seed.value);
      this.seed.value = String(seed);
      const observationFields = ["board", "current", ...(preview > 0 ? ["queue"] : [])];
      const config = { numEnvs: 2, rules: { preset, width, height, preview }, envSeeds: [seed, seed], autoresetMode: AutoresetMode.DISABLED, observationFields, infoFields: ["lines", "pieces"] };
      const session = await this.app.session(config, 120);
      void old?.delete().catch(() => undefined);
      const { observations } = await session.reset();
      this.session = session;
      [this.pieces, this.firstDifference, this.states] = [0, 0, undefined];
      this.lanes.forEach((lane, at) => {
        lane.field = new Field(width, height);
        lane.over = undefined;
        lane.kind = observations.current![at]!;
        lane.dealt = new Dealt(session.description.config?.rules?.randomizer ?? Randomizer.UNIFORM);
        lane.dealt.begin(lane.kind, this.queueOf(observations, at));
        for (const output of [lane.lines, lane.pieces, lane.top]) {
          output.textContent = "0";
        }
      });
      await this.look();
    });
    if (done && game === this.game) {
      void this.loop();
    }
  }

  /** The next pieces of an environment of an answer. */
  private queueOf({ queue }: Observations, at: number): number[] {
    const { preview } = this.form.chosen;
    return [...(queue?.subarray(at * preview, (at + 1) * preview) ?? [])];
  }

  /** The controllers that play at this width; a lane keeps its own if it is among them. */
  private async choices({ width, preview }: Chosen): Promise<void> {
    const controllers = this.app.controllers(width);
    for (const lane of this.lanes) {
      if (!controllers.some(({ name }) => name === lane.name)) {
        lane.name = controllers[0]!.name;
      }
      const names = controllers.map(({ name }) => [name, name] as const);
      const choice = select(names, lane.name, (name) => {
        lane.name = name;
        lane.controller = undefined;
        void this.begin();
      });
      lane.select.replaceChildren(h("span", { class: "badge" }, lane.side), field(`Controller ${lane.side}`, choice), lane.way);
      if (lane.controller?.name !== lane.name || !sameWidth(lane.controller, await this.app.weighing(lane.name, width))) {
        lane.controller = await this.app.weighing(lane.name, width);
        lane.sliders.show(lane.controller);
        lane.source.textContent = lane.controller.source;
        this.app.edited.delete(lane.side);
      }
      const way = wayOf(lane.controller.expectation, preview);
      [lane.way.textContent, lane.way.title] = [way.words, way.more];
    }
  }

  /** A weight has changed: what is chosen for the next piece may have changed too. */
  private changed(lane: Lane): void {
    const controller = lane.controller!;
    const isEdited = controller.weights.some((weight, at) => weight !== controller.original[at]);
    if (isEdited) {
      this.app.edited.set(lane.side, controller);
    } else {
      this.app.edited.delete(lane.side);
    }
    lane.select.classList.toggle("edited", isEdited);
    if (!this.stale) {
      this.stale = true;
      void this.guarded(() => this.decide());
    }
  }

  /** Plays while it may. */
  private async loop(): Promise<void> {
    const game = this.game;
    const mayPlay = () => this.running && this.shown && game === this.game;
    while (mayPlay()) {
      const began = performance.now();
      if (document.hidden) {
        await sleep(500);
        continue;
      }
      if (!(await this.guarded(() => this.advance(game)))) {
        await sleep(PATIENCE);
      } else if (this.lanes.every((lane) => lane.over !== undefined)) {
        await sleep(PAUSE);
        if (mayPlay()) {
          this.next();
        }
        return;
      }
      await sleep(Math.max(0, 1000 / SPEEDS[this.speed]! - (performance.now() - began)));
    }
  }

  /** Does what is chosen, and looks at the next piece. */
  private async advance(game: number): Promise<void> {
    const { session, placements, asked } = this;
    if (game !== this.game || session === undefined || placements === undefined || asked.length === 0) {
      return;
    }
    if (this.states !== undefined) {
      await this.revive();
    }
    const playing = asked.map((env) => this.lanes[env]!);
    const chosen = playing.flatMap((lane) => lane.chosen ?? []);
    if (chosen.length < playing.length) {
      return await this.look(); // the last look was cut short
    }
    const { observations, infos, terminated } = await this.session!.step(chosen.map(({ row }) => placements.actions[row]!), asked);
    this.pieces++;
    if (asked.length === 2 && this.firstDifference === 0 && placements.actions[chosen[0]!.row] !== placements.actions[chosen[1]!.row]) {
      this.firstDifference = this.pieces;
    }
    const size = this.form.chosen.width * this.form.chosen.height;
    playing.forEach((lane, at) => {
      const { row, cells } = chosen[at]!;
      const lost = placements.terminal[row] === 1;
      lane.field.land(lane.kind, cells, !lost || placements.lines[row]! > 0);
      lane.field.agree(observations.board!.subarray(at * size, (at + 1) * size));
      lane.kind = observations.current![at]!;
      if (terminated[at] === 0) {
        lane.dealt.go(lane.kind, this.queueOf(observations, at));
      }
      lane.lines.textContent = grouped(infos.lines![at]!);
      lane.pieces.textContent = grouped(infos.pieces![at]!);
      lane.top.textContent = String(lane.field.top);
      if (terminated[at] === 1) {
        lane.over = `Topped out\n${lane.lines.textContent} lines`;
      }
    });
    await this.look();
  }

  /** Asks for the placements of the pieces in play. */
  private async look(): Promise<void> {
    this.lanes.forEach((lane) => (lane.chosen = undefined));
    this.asked = [0, 1].filter((env) => this.lanes[env]!.over === undefined);
    if (this.asked.length > 0) {
      const features = { features: union(this.lanes.map((lane) => lane.controller!)) };
      const includeAfterstates = this.lanes.some((lane) => lane.controller!.expectation !== undefined);
      this.placements = await this.session!.placements({ features, includeCells: true, includeAfterstates }, this.asked);
    }
    await this.decide();
  }

  /** Chooses for every piece in play. */
  private async decide(): Promise<void> {
    const { placements, session, asked } = this;
    this.stale = false;
    const rules = session?.description.config?.rules;
    if (placements === undefined || rules === undefined) {
      return;
    }
    const judgements = await Promise.all(asked.map((env, at) => {
      const { controller, dealt } = this.lanes[env]!;
      return weigh(this.app.server, rules, controller!, placements, at, dealt);
    }));
    judgements.forEach((judgement, at) => (this.lanes[asked[at]!]!.chosen = { row: judgement.best, judgement, cells: cellsOf(placements, judgement.best) }));
    this.show(placements);
  }

  /** Shows what is chosen, and why. */
  private show(placements: Placements): void {
    const { width, height } = this.form.chosen;
    this.root.style.setProperty("--ratio", String(width / (height + ABOVE)));
    for (const lane of this.lanes) {
      const { field, chosen } = lane;
      if (chosen !== undefined) {
        const { row, judgement: { first, values } } = chosen;
        const warm = warmth(chosen.judgement);
        // Those that were not looked at have no value.
        const known = values.flatMap((value, at) => (Number.isFinite(value) || placements.terminal[first + at] === 1 ? [at] : []));
        lane.heat.show(width, known.map((at) => placements.placements[first + at]!), known.map((at) => warm[at]!), placements.placements[row]!);
        lane.sliders.explain(parts(lane.controller!, placements, row));
      }
      const ghost = lane.chosen?.cells;
      const piece = ghost && { kind: lane.kind, cells: lifted(ghost, height) };
      lane.board.show({ width, height, cells: field.cells, last: field.last, ghost, piece, words: lane.over });
      lane.board.surface.label = `Playfield of ${lane.side}, ${width} by ${height}: ${lane.lines.textContent} lines, ${lane.pieces.textContent} pieces, filled up to row ${field.top}`;
    }
    this.differ.textContent = this.firstDifference > 0 ? `First different choice: piece ${grouped(this.firstDifference)}` : "The same choices so far";
  }

  /** The pause may be longer than the session lives: keeps what is needed to go on. */
  private async keep(): Promise<void> {
    await this.guarded(async () => {
      this.states = await this.session?.save();
    });
  }

  /** After a pause the session may be gone; the game goes on in a new one. */
  private async revive(): Promise<void> {
    const states = this.states!;
    try {
      await this.app.server.open(this.session!.name);
    } catch (problem) {
      if (!isGone(problem)) {
        throw problem;
      }
      const { description } = this.session!;
      const { rules, autoresetMode, observationFields, infoFields } = description.config!;
      this.session = await this.app.session({ numEnvs: 2, ...(rules && { rules }), autoresetMode, observationFields, infoFields }, 120);
      await this.session.restore({ states });
    }
    this.states = this.running ? undefined : await this.session!.save();
  }

  private async guarded(work: () => Promise<void>): Promise<boolean> {
    try {
      await this.turns.take(work);
      this.app.notice(undefined);
      return true;
    } catch (problem) {
      if (isGone(problem)) {
        this.session = undefined;
        void this.begin();
        return false;
      }
      this.app.notice(problem);
      if (isSilence(problem) && this.session === undefined) {
        setTimeout(() => this.shown && this.session === undefined && void this.begin(), PATIENCE);
      }
      return false;
    }
  }
}

/** A piece above the playfield, over the place where it is going to be. */
function lifted(cells: readonly Cell[], height: number): Cell[] {
  const low = Math.min(...cells.map(([row]) => row));
  return cells.map(([row, column]): Cell => [row - low + height, column]);
}

function sameWidth(a: Weighing, b: Weighing): boolean {
  return a.columns.length === b.columns.length;
}
