// The view "Race": two players on the same pieces, controllers or formulas, with their choices and the effect of their weights.

import { type Placements, type Policy, type Session, TetrionError, placementOf } from "../src/index.js";
import { ActionModel, AutoresetMode, type Rules } from "../src/protocol.js";
import { type Choices, type Reader, seedOf, writeAddress } from "./address.js";
import { type App, type View, isGone, isSilence } from "./app.js";
import { Board, Side } from "./board.js";
import { SeedField, Turns, arrow, button, drawnSeed, field, grouped, h, options, select, short, sleep } from "./dom.js";
import { Facts } from "./facts.js";
import { Field } from "./field.js";
import { handBack, usesKey } from "./focus.js";
import { EXAMPLE, formulaField, languageOf, refuseFormula } from "./formulas.js";
import { Heat } from "./heat.js";
import { type Taken, land } from "./landing.js";
import { type Hand, NO_PIECES, boardOf, choosing, comingInWords, handOf, incoming, placed } from "./pieces.js";
import { reasons, signed } from "./reasons.js";
import { ABOVE, type Chosen, choicesOf, chosenOf, configOf } from "./rules.js";
import { RulesForm } from "./rules_form.js";
import { Sliders } from "./sliders.js";
import { NOTHING, type Tally, endInWords, endSpoken, landed, tallyOf } from "./tally.js";
import { type Term, termsOf } from "./terms.js";
import { type Cell, LETTERS, lifted } from "./tetromino.js";
import { type Judgement, type Lead, type Weighing, cellsOf, clearsRows, judgementOf, leads, playerOf, policyOfWeights, runnerUp, tiesInWords, warmPlacements, wayOf } from "./weighing.js";

/** Speeds of the slider, in pieces per second. */
const SPEEDS = [1, 2, 4, 8, 15, 30, 60, Infinity];
/** Milliseconds that the end of a game stays on the screen. */
const PAUSE = 3000;
/** Milliseconds until the next attempt if the server does not answer. */
const PATIENCE = 2000;
/** The name of a player that is a formula, in the list of controllers. */
const FORMULA = "formula";
/** Maximum number of positions to go back to, and the number of pieces from one snapshot to the next. */
const [MEMORY, EVERY] = [1000, 16];
/** Maximum number of terms of a formula that are explained, and the speed up to which they are: each is a call per piece. */
const [MOST_TERMS, SLOW] = [16, 8];

/** A player's game after some pieces. */
interface Standing {
  readonly field: Field;
  readonly hand: Hand;
  readonly tally: Tally;
  readonly over: string | undefined;
}

/** Both games after some pieces. */
interface Moment {
  readonly pieces: number;
  readonly lanes: readonly Standing[];
  /** Snapshots of the session; only some moments have them, and steps lead to the others. */
  states?: Uint8Array[];
  /** The calls that led on from here. */
  taken?: readonly Taken[];
}

/** One of the two players. */
class Lane {
  readonly board = new Board(ABOVE);
  readonly heat: Heat;
  /** Lead of the chosen placement in words. */
  readonly lead = h("p", { class: "remark lead-of-choice" });
  /** Terms of a formula, and their leads. */
  readonly why = h("div", { class: "why" });
  readonly sliders: Sliders;
  readonly facts = new Facts("height");
  readonly beside = new Side();
  readonly select = h("div", { class: "controller" });
  readonly source = h("p", { class: "source" });
  /** How the controller plays. */
  readonly way = h("span", { class: "way" });
  /** Link to its game in the view `replay`. */
  readonly replay = h("a", { class: "source" }, "Replay");
  /** The controller with its weights; undefined for a formula. */
  controller: Weighing | undefined;
  /** The formula that plays; undefined for a controller. */
  formula: string | undefined;
  /** The last formula that the server accepted. */
  accepted = EXAMPLE;
  /** The field for a formula. */
  text: HTMLTextAreaElement | undefined;
  /** Names in the list of controllers. */
  offered = "";
  /** Weights from the address. */
  given: readonly number[] | undefined;
  field = new Field(10, 20);
  hand = NO_PIECES;
  tally = NOTHING;
  /** The placements of the current piece, and the chosen one: its row, cells and piece. */
  chosen: { placements: Placements; row: number; cells: Cell[]; kind: number; judgement: Judgement } | undefined;
  /** Values of a formula's terms for each placement; undefined if they are unknown. */
  terms: { readonly term: Term; readonly values: readonly number[] }[] | undefined;
  over: string | undefined;
  private readonly summary = h("summary");
  /** Sliders or a formula. */
  private readonly controls = h("div", { class: "controls" });

  /** The player in an environment. */
  constructor(readonly side: "A" | "B", readonly env: number, public name: string, changed: (lane: Lane) => void, pointed: (lane: Lane) => void) {
    this.sliders = new Sliders(side, () => changed(this));
    this.heat = new Heat(() => pointed(this));
  }

  /** What plays. */
  policy(preview: number): Policy {
    return this.formula === undefined ? policyOfWeights(this.controller!, preview) : { formula: this.formula };
  }

  /** Shows the weights of the controller. */
  showWeights(controller: Weighing): void {
    this.summary.textContent = `Weights of ${this.side}`;
    this.sliders.show(controller);
    this.source.textContent = controller.source;
    this.controls.replaceChildren(this.source, this.lead, this.sliders.element);
  }

  /** Shows the field for a formula, and what it can use. */
  showFormula(field: HTMLTextAreaElement, language: HTMLElement): void {
    this.text = field;
    field.ariaLabel = `Formula of ${this.side}`;
    this.summary.textContent = field.ariaLabel;
    this.source.textContent = "";
    this.controls.replaceChildren(h("div", { class: "field" }, field), this.source, this.lead, this.why, language);
  }

  /** Takes the answer to a call for the placements of the current piece. */
  choose(placements: Placements): void {
    const judgement = judgementOf(placements);
    const { best: row } = judgement;
    this.terms = undefined;
    this.chosen = { placements, row, judgement, cells: cellsOf(placements, row), kind: placed(this.hand, placements.holds?.[row] === 1) };
  }

  /** The game so far. The field is a copy. */
  get standing(): Standing {
    const { field, hand, tally, over } = this;
    return { field: field.copy(), hand, tally, over };
  }

  /** Goes back to an earlier position. */
  restore({ field, hand, tally, over }: Standing): void {
    [this.field, this.hand, this.tally, this.over, this.chosen] = [field.copy(), hand, tally, over, undefined];
  }

  /** Explains the lead of the chosen placement over the one under the pointer, or over the second best. */
  explain(preview: number): void {
    const { chosen, heat, controller } = this;
    if (chosen === undefined) {
      return;
    }
    const { placements, row, judgement } = chosen;
    const { first, values } = judgement;
    const second = runnerUp(judgement);
    const isPointed = heat.pointed !== undefined && heat.pointed !== row;
    const other = isPointed ? heat.pointed : second;
    heat.compare(other === undefined ? undefined : { ...placementOf(placements, other), row: other, warmth: undefined });
    const lead = other === undefined ? NaN : values[row - first]! - values[other - first]!;
    const name = isPointed ? "the placement under the pointer" : "the second best";
    const weighs = controller !== undefined && wayOf(controller.expectation, preview).weighs;
    let all: Lead[] = [];
    if (other !== undefined && controller !== undefined) {
      all = leads(controller, placements, row, other);
      this.sliders.explain(all);
    } else if (other !== undefined && this.terms !== undefined) {
      all = this.terms.map(({ term, values }) => {
        const [here, there] = [values[row - first]!, values[other - first]!];
        return { name: term.name, here, there, weight: 1, adds: here - there };
      });
    }
    const total = all.reduce((sum, { adds }) => sum + adds, 0);
    const rest = weighs && Number.isFinite(lead) ? `: ${signed(total)} by the features, ${signed(lead - total)} by the pieces to come` : "";
    const ties = tiesInWords(judgement);
    this.lead.textContent = other === undefined
      ? `It considers no worse placement${ties}`
      : Number.isFinite(lead) ? `Ahead of ${name} by ${short(lead)}${rest}${isPointed ? "" : ties}`
        : placements.terminated[other] === 1 ? "The placement under the pointer ends the game" : "The placement under the pointer is none of those that it considers";
    // Terms that do not add up to the value would explain nothing: the server bounds values.
    const addUp = Math.abs(total - lead) <= 1e-6 * Math.max(1, ...all.map(({ here, there }) => Math.max(Math.abs(here), Math.abs(there))));
    this.why.replaceChildren(...(controller === undefined && all.length > 0 && addUp ? reasons(`Terms of ${this.side}`, "term", all, [["in all", lead]], { hasWeights: false }) : []));
  }

  /** Whether the user has changed the weights. */
  get isEdited(): boolean {
    return this.controller?.weights.some((weight, at) => weight !== this.controller!.original[at]) === true;
  }

  get element(): HTMLElement {
    const legend = h("div", { class: "legend", "aria-hidden": "true" }, h("span", {}, "worse"), h("i", {}), h("span", {}, "better"));
    const field = h("div", { class: "playfield" }, this.board.surface.canvas, this.heat.surface.canvas, legend);
    const weights = h("details", { class: "weights", open: matchMedia("(min-width: 60rem)").matches }, this.summary, this.controls);
    const numbers = h("div", { class: "numbers" }, this.facts.element, h("div", { class: "side" }, this.beside.hold, this.beside.queue));
    return h("section", { class: `lane lane-${this.side.toLowerCase()}`, "aria-label": `Player ${this.side}` }, field, h("div", { class: "about-player" }, this.select, numbers, weights));
  }
}

/** The view. */
export class Race implements View {
  readonly root = h("div", { class: "view race" });
  private readonly lanes: readonly [Lane, Lane];
  private readonly form: RulesForm;
  private readonly seed: SeedField;
  private readonly play = button("Pause", () => this.toggle(), "primary");
  private readonly differ = h("p", { class: "remark" });
  private readonly jump = Object.assign(button("", () => void this.guarded(() => this.toFork()), "quiet"), { title: "Go back to it" });
  private session: Session | undefined;
  /** Positions of this game, the current one last. */
  private past: Moment[] = [];
  /** The position before the first different choice. */
  private fork: Moment | undefined;
  /** Whether the session may have taken a step that the page does not show. */
  private isAhead = false;
  /** The new session for one that is lost, while it begins. */
  private revival: Promise<void> | undefined;
  private speed = 3;
  private running = true;
  private shown = false;
  /** Number of the current game, so that a loop notices when its game is over. */
  private game = 0;
  private pieces = 0;
  /** Whether weights have changed since the last choices. */
  private stale = false;
  private readonly turns = new Turns();

  constructor(private readonly app: App, address: Reader) {
    const first = app.catalog.rulesPresets[0]!;
    // Ten rows, as in much of the literature: even good controllers lose there.
    this.form = new RulesForm(app, { ...chosenOf(first), height: 10 }, address, () => void this.begin(), { matches: true });
    this.seed = new SeedField(address.parsed("seed", seedOf) ?? 1n, () => void this.begin());
    const names = app.controllers(this.form.chosen.width).map(({ name }) => name);
    const named = (side: string, wanted: string, other: number) => address.oneOf(side, names) ?? (names.includes(wanted) ? wanted : names[other] ?? names[0]!);
    this.lanes = [new Lane("A", 0, named("a", "dellacherie", 0), (lane) => this.changed(lane), (lane) => this.showLane(lane)), new Lane("B", 1, named("b", "bcts", 1), (lane) => this.changed(lane), (lane) => this.showLane(lane))];
    for (const lane of this.lanes) {
      const formula = address.text(`formula_${lane.side.toLowerCase()}`);
      if (formula !== undefined) {
        [lane.name, lane.formula] = [FORMULA, formula];
        continue;
      }
      lane.given = app.weightsIn(address, `weights_${lane.side.toLowerCase()}`, lane.name);
    }
    const wanted = Number(address.oneOf("speed", SPEEDS.map(String)) ?? 8);
    this.speed = SPEEDS.indexOf(wanted);
    const speeds = h("input", {
      type: "range",
      min: "0",
      max: String(SPEEDS.length - 1),
      step: "1",
      value: String(this.speed),
      oninput: () => {
        this.speed = Number(speeds.value);
        tell();
        this.app.changed();
      },
    });
    const tell = () => (speeds.ariaValueText = speedInWords(SPEEDS[this.speed]!));
    tell();
    const toolbar = h("div", { class: "toolbar" },
      h("div", { class: "buttons" }, this.play, arrow("◂", "Back", () => void this.back()), arrow("▸", "Step", () => void this.single()), button("New game", () => this.next())),
      field("Speed", speeds, "Pieces per second"),
      options(this.form.element, this.seed.element),
      this.differ);
    this.root.append(
      h("h1", { class: "only-read" }, "Two players on the same pieces"),
      toolbar,
      h("div", { class: "lanes" }, ...this.lanes.map((lane) => lane.element)));
    handBack(this.root);
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

  choices(): Choices {
    const [a, b] = this.lanes;
    const speed = SPEEDS[this.speed]!;
    return { ...choicesOf(this.app, this.form.chosen), seed: String(this.seed.value), ...playerChoices(a, "a", "_a"), ...playerChoices(b, "b", "_b"), ...(speed !== 8 && { speed: String(speed) }) };
  }

  close(): void {
    this.game++;
    this.app.end(this.session);
    this.session = undefined;
  }

  private readonly keys = (event: KeyboardEvent): void => {
    if (usesKey(event.target, event.key) || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const act = { " ": () => this.toggle(), "ArrowRight": () => void this.single(), "ArrowLeft": () => void this.back(), "n": () => this.next() }[event.key];
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
    }
  }

  private pause(): void {
    if (this.running) {
      this.toggle();
    }
  }

  /** Pauses and places one piece. */
  private async single(): Promise<void> {
    this.pause();
    await this.guarded(() => this.advance(this.game));
  }

  /** Pauses and takes one piece back. */
  private async back(): Promise<void> {
    this.pause();
    await this.guarded(async () => {
      const before = this.past.at(-2);
      if (before !== undefined) {
        await this.goTo(before);
      }
    });
  }

  /** Pauses before the first different choice. */
  private async toFork(): Promise<void> {
    this.pause();
    if (this.fork !== undefined) {
      await this.goTo(this.fork);
    }
  }

  /** Goes to a position of this game. */
  private async goTo(moment: Moment): Promise<void> {
    const at = this.past.indexOf(moment);
    this.past = at < 0 ? [moment] : this.past.slice(0, at + 1);
    this.isAhead = true;
    await this.alive((session) => this.reach(session));
    this.isAhead = false;
    this.pieces = moment.pieces;
    this.lanes.forEach((lane, at) => lane.restore(moment.lanes[at]!));
    await this.look();
  }

  /** Brings a session to the current position: from the last snapshot, step by step. */
  private async reach(session: Session): Promise<void> {
    const { past } = this;
    const from = past.findLastIndex(({ states }) => states !== undefined);
    await session.restoreState({ snapshots: past[from]!.states! });
    for (const { actions, envIds } of past.slice(from, -1).flatMap(({ taken }) => taken!)) {
      await session.step([...actions], { envIds: [...envIds] });
    }
  }

  /** Adds the current position to the past, which begins with a snapshot. */
  private async remember(): Promise<void> {
    const moment: Moment = { pieces: this.pieces, lanes: this.lanes.map(({ standing }) => standing) };
    this.past.push(moment);
    if (this.past.length > MEMORY + EVERY) {
      this.past = this.past.slice(this.past.findIndex(({ states }, at) => states !== undefined && at >= EVERY));
    }
    if (moment.pieces % EVERY === 0) {
      moment.states = await this.session!.saveState();
    }
  }

  private next(): void {
    this.seed.value = drawnSeed();
    void this.begin();
  }

  /** Starts a new game with the current choices. */
  private async begin(): Promise<void> {
    const game = ++this.game;
    const done = await this.guarded(async () => {
      if (game !== this.game) {
        return; // another one was asked for meanwhile
      }
      await this.form.settle();
      const { width, height } = this.form.chosen;
      const old = this.session;
      this.session = undefined;
      await this.offer(this.form.chosen);
      this.app.changed();
      const seed = this.seed.value;
      const config = { ...configOf(this.app, this.form.chosen), numEnvs: 2, envSeeds: [seed, seed], autoresetMode: AutoresetMode.DISABLED };
      const session = await this.app.session("Race", config);
      this.app.end(old);
      const { observations, infos } = await session.reset();
      this.session = session;
      [this.pieces, this.past, this.fork, this.isAhead] = [0, [], undefined, false];
      const { rules } = this;
      this.lanes.forEach((lane, at) => {
        lane.field = new Field(width, rules.height ?? height);
        lane.over = undefined;
        lane.hand = handOf(observations, rules, at);
        lane.chosen = undefined;
        lane.tally = tallyOf(infos, at);
        lane.beside.begin(rules);
      });
      await this.remember();
      await this.look();
    });
    if (done && game === this.game) {
      void this.loop();
    }
  }

  /** Rules of the session, with every field. */
  private get rules(): Rules {
    return this.session!.description.config!.rules!;
  }

  /** Offers the controllers for this width. A player keeps its controller if possible, and an unchanged list the keyboard focus. */
  private async offer({ width, preview }: Chosen): Promise<void> {
    const names = [...this.app.controllers(width).map(({ name }) => name), FORMULA];
    for (const lane of this.lanes) {
      if (!names.includes(lane.name)) {
        lane.name = names[0]!;
      }
      if (lane.offered !== names.join()) {
        lane.offered = names.join();
        const choice = select(names.map((name) => [name, name === FORMULA ? "a formula" : name] as const), lane.name, (name) => {
          void this.guarded(async () => {
            [lane.name, lane.controller, lane.text] = [name, undefined, undefined];
            lane.formula = name === FORMULA ? EXAMPLE : undefined;
          });
          void this.begin();
        });
        lane.select.replaceChildren(h("span", { class: "badge" }, lane.side), field(`Controller ${lane.side}`, choice), lane.way, lane.replay);
      }
      if (lane.formula !== undefined) {
        if (lane.text === undefined) {
          lane.showFormula(formulaField(this.app.info, lane.formula, (text) => this.rewrite(lane, text)), languageOf(this.app.catalog));
          this.mark(lane);
        }
        [lane.way.textContent, lane.way.title] = ["greedy", "The placement with the largest value of the formula"];
        continue;
      }
      if (lane.controller?.name !== lane.name || !sameWidth(lane.controller, await this.app.weighing(lane.name, width))) {
        lane.controller = await this.app.weighing(lane.name, width);
        lane.given?.forEach((weight, at) => (lane.controller!.weights[at] = weight));
        lane.given = undefined;
        lane.showWeights(lane.controller);
        this.mark(lane);
      }
      const way = wayOf(lane.controller.expectation, preview);
      [lane.way.textContent, lane.way.title] = [way.words, way.more];
    }
  }

  /** Marks a controller with changed weights, and offers it to the view `evaluate`. */
  private mark(lane: Lane): void {
    if (lane.isEdited) {
      this.app.edited.set(lane.side, lane.controller!);
    } else {
      this.app.edited.delete(lane.side);
    }
    lane.select.classList.toggle("edited", lane.isEdited);
  }

  /** Chooses again after a weight has changed. */
  private changed(lane: Lane): void {
    this.mark(lane);
    this.app.changed();
    this.forget();
    if (!this.stale) {
      this.stale = true;
      void this.guarded(() => this.look());
    }
  }

  /** Forgets a first difference that lies ahead, after going back: another player may choose otherwise. */
  private forget(): void {
    if (this.fork !== undefined && this.fork.pieces >= this.pieces) {
      this.fork = undefined;
    }
  }

  /** Lets a player go on by another formula. */
  private rewrite(lane: Lane, text: string): void {
    lane.formula = text;
    this.forget();
    void this.guarded(async () => {
      await this.look();
      this.app.changed();
    });
  }

  /** Plays until the game ends, pauses or is replaced. */
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

  /** Places the chosen pieces, and asks for the next choices. */
  private async advance(game: number): Promise<void> {
    const playing = this.lanes.filter(({ over }) => over === undefined);
    if (game !== this.game || this.session === undefined || playing.length === 0) {
      return;
    }
    const now = this.past.at(-1)!;
    if (this.isAhead) {
      return await this.goTo(now); // the answer to the last step was lost
    }
    const chosen = playing.flatMap((lane) => lane.chosen ?? []);
    if (chosen.length < playing.length) {
      return await this.look(); // the last look was cut short
    }
    const aimed = chosen.map(({ placements, row }, at) => ({
      env: playing[at]!.env, action: placements.actions[row]!, placement: placements.placements[row]!, pieces: playing[at]!.tally.pieces, clears: clearsRows(placements, row),
    }));
    if (playing.length === 2 && !this.form.chosen.isMatch && this.fork === undefined && aimed[0]!.placement !== aimed[1]!.placement) {
      // It may be wanted after its surroundings are forgotten.
      now.states ??= await this.alive((session) => session.saveState());
      this.fork = now;
    }
    this.isAhead = true;
    const { landings, taken } = await land((call) => this.alive(call), aimed);
    this.isAhead = false;
    now.taken = taken;
    this.pieces++;
    const { rules } = this;
    playing.forEach((lane, at) => {
      const { cells, kind } = chosen[at]!;
      const { step: { observations, infos, terminated }, row, clears } = landings[at]!;
      const board = boardOf(observations, rules, row);
      // A piece that falls on its way may come to rest elsewhere.
      lane.field.land(kind, (rules.actionModel === ActionModel.KEYPRESS ? lane.field.landing(kind, cells, board) : cells) ?? [], clears);
      lane.field.agree(board);
      lane.hand = handOf(observations, rules, row);
      lane.tally = landed(lane.tally, infos, kind, lane.field.top === 0, row).tally;
      lane.chosen = undefined;
      if (terminated[row] === 1) {
        lane.over = endInWords(lane.tally);
      }
    });
    // At once, as each takes a round trip. Both are awaited even if one fails.
    const done = await Promise.allSettled([this.remember(), this.look()]);
    for (const end of done) {
      if (end.status === "rejected") {
        throw end.reason;
      }
    }
  }

  /** Asks for the choice of each player, and shows it. */
  private async look(): Promise<void> {
    this.stale = false;
    if (this.session === undefined) {
      return;
    }
    // Both answers are awaited even if one fails: a late one would belong to another piece.
    const asked = await Promise.allSettled(this.lanes.filter(({ over }) => over === undefined).map((lane) => this.ask(lane)));
    const failed = asked.find(({ status }) => status === "rejected");
    if (failed !== undefined) {
      throw (failed as PromiseRejectedResult).reason;
    }
    this.show();
  }

  /** Asks for the choice of a player. A player whose formula the server refuses goes on by the last one that it accepted. */
  private async ask(lane: Lane): Promise<void> {
    const { controller, env, formula } = lane;
    try {
      const policy = lane.policy(this.rules.preview ?? 0);
      lane.choose(await this.alive((session) => session.enumeratePlacements({ policy, features: controller?.columns, includeCells: true, envIds: [env] })));
      lane.accepted = formula ?? lane.accepted;
      if (formula !== undefined && (!this.running || SPEEDS[this.speed]! <= SLOW)) {
        await this.explainTerms(lane, formula);
      }
    } catch (problem) {
      const isRefused = problem instanceof TetrionError && problem.field.startsWith("policy.formula");
      if (!isRefused || lane.text === undefined || formula === EXAMPLE) {
        throw problem;
      }
      refuseFormula(lane.text, problem);
      // Meanwhile the user may have written another one.
      if (lane.formula === formula) {
        lane.formula = formula === lane.accepted ? EXAMPLE : lane.accepted;
      }
      await this.ask(lane);
    }
  }

  /** Asks for the values of a formula's terms. */
  private async explainTerms(lane: Lane, formula: string): Promise<void> {
    const terms = termsOf(formula);
    if (terms.length > MOST_TERMS) {
      return;
    }
    const values = await Promise.all(terms.map(async (term) => {
      try {
        const placements = await this.alive((session) => session.enumeratePlacements({ policy: { formula: term.formula }, envIds: [lane.env] }));
        return [{ term, values: judgementOf(placements).values }];
      } catch (problem) {
        // A term without features is no formula. It is equal for all placements.
        if (problem instanceof TetrionError && problem.field.startsWith("policy.formula")) {
          return [];
        }
        throw problem;
      }
    }));
    lane.terms = values.flat();
  }

  /** Shows the choices and their reasons. */
  private show(): void {
    const { width, height } = this.form.chosen;
    // Each block of the heat map is two cells high.
    this.root.style.setProperty("--ratio", String(width / (height + ABOVE + (this.rules.hold === true ? 4 : 2))));
    for (const lane of this.lanes) {
      lane.replay.hidden = this.form.chosen.isMatch;
      lane.replay.href = writeAddress("replay", { ...choicesOf(this.app, this.form.chosen), seed: String(this.seed.value), ...playerChoices(lane, "player", "") });
      const { chosen } = lane;
      if (chosen !== undefined) {
        const { placements, row, judgement: { first, values } } = chosen;
        const shown = warmPlacements(placements, chosen.judgement);
        lane.heat.show(width, this.rules.hold === true, shown, shown[row - first]!);
        if (lane.controller === undefined) {
          lane.source.textContent = `Value of the choice: ${short(values[row - first]!)}`;
        }
      }
      this.showLane(lane);
    }
    const { fork } = this;
    // In a match every position is the work of both, so no choices can be compared.
    this.differ.hidden = this.form.chosen.isMatch;
    const text = fork === undefined ? "The same choices so far" : `First different choice: piece ${grouped(fork.pieces + 1)}`;
    if (this.differ.textContent !== text) {
      this.jump.textContent = text;
      this.differ.replaceChildren(fork === undefined ? text : this.jump);
    }
  }

  /** Shows a player's game, and the placement under the pointer. */
  private showLane(lane: Lane): void {
    if (this.session === undefined) {
      return;
    }
    const { width, height } = this.form.chosen;
    const { field, chosen, hand } = lane;
    lane.explain(this.rules.preview ?? 0);
    const row = lane.heat.pointed;
    const hint = chosen === undefined || row === undefined || row === chosen.row ? undefined : { kind: placed(hand, chosen.placements.holds?.[row] === 1), cells: cellsOf(chosen.placements, row) };
    const ghost = chosen?.cells;
    const piece = chosen && { kind: chosen.kind, cells: lifted(chosen.cells, height) };
    lane.board.show({ width, height, cells: field.cells, last: field.last, ghost, piece, hint, words: lane.over, garbage: hand.garbage });
    lane.facts.show(lane.tally, this.form.chosen.isMatch ? undefined : String(field.top), incoming(hand));
    const holds = chosen !== undefined && chosen.placements.holds?.[chosen.row] === 1;
    // After the choice: the piece above the field is the one to place.
    lane.beside.show(choosing(hand, holds));
    const does = holds ? `, holds ${LETTERS[hand.current]} for ${LETTERS[chosen.kind]}` : "";
    lane.board.surface.label = `Playfield of ${lane.side}, ${width} by ${height}: ${grouped(lane.tally.lines)} lines, ${grouped(lane.tally.pieces)} pieces, filled up to row ${field.top}${does}${comingInWords(hand)}${endSpoken(lane.over)}`;
  }

  /** Makes a call on the session. If the session has expired, continues from the last position in a new one. */
  private async alive<T>(call: (session: Session) => Promise<T>): Promise<T> {
    const { session } = this;
    try {
      return await call(session!);
    } catch (problem) {
      if (!isGone(problem) || this.past.every(({ states }) => states === undefined)) {
        throw problem;
      }
      // Both players may notice it.
      if (this.session === session) {
        this.revival ??= this.revive().finally(() => (this.revival = undefined));
      }
      await this.revival;
      return await call(this.session!);
    }
  }

  /** Continues in a new session from the current position. */
  private async revive(): Promise<void> {
    const { rules, autoresetMode, observationFields, infoFields } = this.session!.description.config!;
    const [observations, infos] = [observationFields?.names, infoFields?.names];
    const session = await this.app.session("Race", { numEnvs: 2, rules, autoresetMode, observations, infos });
    await this.reach(session);
    this.session = session;
  }

  private async guarded(work: () => Promise<void>): Promise<boolean> {
    try {
      await this.turns.take(work);
      this.app.notice(undefined);
      return true;
    } catch (problem) {
      if (isGone(problem)) {
        this.session = undefined;
        if (this.shown) {
          void this.begin();
        }
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

/** What plays in a lane, as choices of an address. */
function playerChoices({ name, formula, isEdited, controller }: Lane, choice: string, suffix: string): Choices {
  return playerOf({ name, formula, weights: isEdited ? controller!.weights : undefined }, choice, suffix);
}

function sameWidth(a: Weighing, b: Weighing): boolean {
  return a.columns.length === b.columns.length;
}

function speedInWords(speed: number): string {
  return Number.isFinite(speed) ? `${speed} ${speed === 1 ? "piece" : "pieces"} per second` : "as fast as the server answers";
}
