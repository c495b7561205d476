// A person plays: placements or keys, whatever the rules have; a hint, as many steps back as there were, and an opponent.
//
// The game is on the server. Here is what a person sees of it, and a snapshot of every position, to go back to or to go on
// from when the session has run out.

import type { FirstStep, Placements, Session } from "../src/index.js";
import { ActionModel, AutoresetMode, type Rules } from "../src/protocol.js";
import { Advice } from "./advice.js";
import { Aim, type Place, placesOf } from "./aim.js";
import { type App, type View, isGone } from "./app.js";
import { Board, Side } from "./board.js";
import { Turns, button, field, grouped, h, options, select, short } from "./dom.js";
import { Facts } from "./facts.js";
import { Field } from "./field.js";
import { type Act, Keyboard, legend } from "./keyboard.js";
import { Pieces, choosing, handOf, placed } from "./pieces.js";
import { Rival } from "./rival.js";
import { ABOVE, type Chosen, chosenOf, configOf, presetOf, steers } from "./rules.js";
import { RulesForm, drawnSeed, seedOf } from "./rules_form.js";
import { NOTHING, type Tally, deedInWords, nameOf, sentInWords, tallyOf } from "./tally.js";
import { type Cell, LETTERS, lifted } from "./tetromino.js";
import { cellsOf } from "./weighing.js";

/** Positions that one can go back to. */
const MEMORY = 1000;
/** Milliseconds of a step in which time passes: where pieces fall a row with every key, and where keys steer them. */
const STEP = { falling: 700, steered: 100 } as const;
/** The keys of rules with key presses: those of all, and those that steer pieces. */
const KEY = { idle: 0, left: 1, right: 2, turnLeft: 3, turn: 4, drop: 5 } as const;
const STEERING = { ...KEY, down: 6, bottom: 7, turnHalf: 8, hold: 9 } as const;

/** What a position looks like. */
interface Position {
  readonly state: Uint8Array;
  readonly field: Field;
  readonly pieces: Pieces;
  readonly tally: Tally;
}

/** The view. */
export class Play implements View {
  readonly root = h("div", { class: "view play" });
  private readonly board = new Board(ABOVE);
  private readonly side = new Side();
  private readonly next = h("section", { class: "card coming-card" }, this.side.element);
  private readonly form: RulesForm;
  private readonly seed = h("input", { type: "text", inputMode: "numeric", value: String(drawnSeed()), size: 6, autocomplete: "off", onchange: () => void this.begin() });
  private readonly facts = new Facts("points");
  private readonly spoken = h("p", { class: "only-read", "aria-live": "polite" });
  private readonly advice: Advice;
  private readonly opponents = h("div");
  private readonly rival: Rival;
  /** The controller that plays beside the person; empty for none. */
  private against = "";
  private readonly undoButton = button("Undo", () => this.act("undo"));
  private readonly hintButton = button("Hint", () => this.act("hint"));
  private readonly holdButton = pad("⇄", "Hold", () => this.act("hold"));
  private readonly gravity = h("input", { type: "checkbox", id: "gravity", checked: true });
  private readonly gravityField = h("div", { class: "check" }, this.gravity, h("label", { for: "gravity" }, "Pieces fall by themselves"));
  private readonly legend = h("div");
  private readonly keyboard = new Keyboard();
  private readonly turns = new Turns();
  private session: Session | undefined;
  private field = new Field(10, 20);
  private pieces = new Pieces();
  private tally = NOTHING;
  private past: Position[] = [];
  private placements: Placements | undefined;
  /** What the person points at, where a step is a placement. */
  private aim: Aim | undefined;
  private falling: Cell[] = [];
  /** Which actions exist. */
  private mask: Uint8Array | undefined;
  private over: string | undefined;
  private hinted: { row: number; kind: number } | undefined;
  private shown = false;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Whether a step in which time passes is under way. */
  private isFalling = false;

  constructor(private readonly app: App) {
    this.form = new RulesForm(app.info, chosenOf(app.info.rulesPresets[0]!), () => void this.begin(), { offersKeys: true });
    this.rival = new Rival(app);
    this.advice = new Advice(app);
    this.root.append(
      h("h1", { class: "only-read" }, "Play by hand"),
      h("div", { class: "toolbar" },
        h("div", { class: "buttons" }, button("New game", () => this.act("new"), "primary"), this.undoButton, this.hintButton),
        options(this.opponents, this.form.element, field("Seed", this.seed, "The same number deals the same pieces"))),
      h("div", { class: "table" },
        h("div", { class: "playfield" }, this.board.surface.canvas, h("div", { class: "pad" },
          pad("←", "Left", () => this.act("left")), pad("↻", "Turn", () => this.act("turn")), pad("→", "Right", () => this.act("right")),
          pad("↓", "Down", () => this.act("down")), this.holdButton, pad("⤓", "Drop", () => this.act("drop")))),
        this.rival.root,
        h("div", { class: "beside" },
          h("div", { class: "scores" }, this.facts.element, this.rival.facts),
          this.next,
          this.advice.root,
          h("section", { class: "card keyboard" }, h("h2", {}, "Keys"), this.gravityField, this.legend))),
      this.spoken);
  }

  enter(): void {
    this.shown = true;
    document.addEventListener("keydown", this.keys);
    document.addEventListener("keyup", this.keys);
    document.addEventListener("pointerdown", this.interrupt);
    this.wind();
    if (this.session === undefined) {
      void this.begin();
    }
  }

  leave(): void {
    this.shown = false;
    document.removeEventListener("keydown", this.keys);
    document.removeEventListener("keyup", this.keys);
    document.removeEventListener("pointerdown", this.interrupt);
    this.interrupt();
    clearInterval(this.timer);
    this.app.notice(undefined);
  }

  private readonly keys = (event: KeyboardEvent): void => {
    const inControl = event.target instanceof HTMLElement && event.target.closest("input, select, dialog") !== null;
    const onButton = event.target instanceof HTMLElement && event.target.closest("button, a, summary") !== null && [" ", "Enter"].includes(event.key);
    const act = event.type === "keyup" ? this.keyboard.up(event, this.rules) : this.keyboard.down(event, this.rules);
    if (act === undefined || inControl || onButton) {
      return;
    }
    event.preventDefault();
    this.act(act);
  };

  /** Winds the clock of the game that is played. */
  private wind(): void {
    clearInterval(this.timer);
    this.timer = this.shown ? setInterval(() => this.fall(), this.steers ? STEP.steered : STEP.falling) : undefined;
  }

  private readonly interrupt = (): void => this.keyboard.interrupt();

  private get isKeypress(): boolean {
    return this.rules.actionModel === ActionModel.KEYPRESS;
  }

  private get steers(): boolean {
    return steers(this.rules);
  }

  /** Those of the session, with every field; before there is one, those of the preset. */
  private get rules(): Rules {
    return this.session?.description.config?.rules ?? presetOf(this.app.info, this.form.chosen.preset)!;
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
          await this.press(act);
        } else if (this.aim !== undefined && act === "drop") {
          await this.step(this.placements!.actions[this.aim.place.at]!);
        } else if (this.aim !== undefined && act !== "drop" && act !== "bottom") {
          this.steer(act, this.aim);
        }
      }
    });
  }

  /** Presses the key for what a person wants, if the rules have one. */
  private async press(act: Act): Promise<void> {
    const keys: Partial<Record<Act, number>> = this.steers ? STEERING : { ...KEY, down: KEY.idle };
    const key = keys[act];
    if (key === undefined) {
      return;
    }
    if (this.mask?.[key] === 0) {
      this.say("The piece cannot be held now");
      return;
    }
    await this.step(key);
    if (act === "hold" && this.over === undefined) {
      this.say(`Now ${LETTERS[this.pieces.hand.current]}`);
    }
  }

  /** Time passes, where the rules have key presses; not faster than the server answers. */
  private fall(): void {
    if (!this.isFalling && this.isKeypress && this.gravity.checked && this.over === undefined && this.shown && !document.hidden && document.querySelector("dialog") === null && this.session !== undefined) {
      this.isFalling = true;
      void this.guarded(() => this.step(KEY.idle)).finally(() => (this.isFalling = false));
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
    const { rules } = this;
    this.field = new Field(width, rules.height ?? height);
    this.pieces = new Pieces(rules.randomizer);
    this.pieces.begin(handOf(first.observations, rules));
    this.tally = tallyOf(first.infos);
    this.past = [];
    this.over = undefined;
    this.placements = undefined;
    this.gravityField.hidden = !this.isKeypress;
    this.wind();
    this.side.begin(rules);
    this.next.hidden = this.side.element.hidden;
    this.holdButton.hidden = rules.hold !== true;
    this.legend.replaceChildren(legend(rules));
    this.root.style.setProperty("--play-ratio", String(width / (height + ABOVE)));
    this.choices(this.form.chosen);
    this.challenge();
    await this.look(first);
    await this.remember();
  }

  /** Begins a game beside, on the same pieces, up to where the person is; or ends it. */
  private challenge(): void {
    const { against: controller, isKeypress, steers } = this;
    // It lands a piece for each of the person's, and needs no time: where keys steer, it plays by placements.
    const chosen = { ...this.form.chosen, byKeys: false };
    this.rival.begin(controller === "" ? undefined : { controller, isKeypress: isKeypress && !steers, chosen, seed: seedOf(this.seed.value) });
  }

  /** A session of what is chosen. */
  private async open(more: { envSeeds?: bigint[] } = {}): Promise<Session> {
    return await this.app.session({ ...configOf(this.app.info, this.form.chosen), autoresetMode: AutoresetMode.DISABLED, actionMask: this.form.chosen.byKeys, ...more }, 1800);
  }

  /** Which controllers can give hints, and play beside. */
  private choices({ width }: Chosen): void {
    const controllers = this.app.controllers(width);
    this.advice.offer(controllers, () => void this.guarded(async () => {
      await this.ask();
      await this.showHint();
    }));
    this.against = controllers.some(({ name }) => name === this.against) ? this.against : "";
    const opponent = select([["", "nobody"], ...controllers.map(({ name }) => [name, name] as const)], this.against, (name) => {
      this.against = name;
      this.challenge();
      this.rival.follow(Number(this.tally.pieces));
    });
    this.opponents.replaceChildren(field("Against", opponent, "A controller that gets the same pieces, and lands one for each of yours"));
    this.hinted = undefined;
    void this.guarded(() => this.ask());
  }

  /** Takes the adviser that is chosen, and looks at the piece with its features. */
  private async ask(): Promise<void> {
    await this.advice.learn(this.form.chosen.width);
    await this.enumerate();
  }

  /** Every placement of the piece in play. */
  private async enumerate(): Promise<void> {
    if (this.over === undefined) {
      const { columns, expectation } = this.advice.weighing ?? {};
      const features = columns && { features: { features: [...columns] }, includeAfterstates: expectation !== undefined };
      this.placements = await this.session!.placements({ includeCells: true, ...features });
    }
  }

  /** Another position has come about. */
  private async look({ observations, infos, actionMask }: FirstStep): Promise<void> {
    this.mask = actionMask;
    this.field.agree(observations.board!);
    const cells = observations.falling_cells;
    this.falling = cells === undefined ? [] : [0, 2, 4, 6].map((at): Cell => [cells[at]!, cells[at + 1]!]);
    // Rewards come with keys too, between landings.
    this.tally = { ...this.tally, points: tallyOf(infos).points };
    this.facts.show(this.tally, short(this.tally.points));
    this.undoButton.disabled = this.past.length < 2;
    if (!this.isKeypress || this.placements === undefined) {
      this.hinted = undefined;
      this.advice.clear();
      await this.enumerate();
      this.aim = undefined;
      if (!this.isKeypress && this.over === undefined && this.placements!.actions.length > 0) {
        this.aim = new Aim(this.rules, placesOf(this.rules, this.placements!));
      }
    }
    this.draw();
  }

  /** Moves, turns or swaps what is aimed at. */
  private steer(act: Exclude<Act, "drop" | "bottom" | "hint" | "undo" | "new">, aim: Aim): void {
    const kind = this.kindOf(aim.place);
    if (act === "hold") {
      if (!aim.swap()) {
        this.say("There is nothing to hold it for");
        return;
      }
    } else if (act === "left" || act === "right") {
      aim.shift(act === "right");
    } else if (act === "down") {
      aim.deepen();
    } else {
      aim.turn(({ turn: 1, turnHalf: 2, turnLeft: 3 } as const)[act], kind);
    }
    this.draw();
    this.say(this.aimed(aim.place));
  }

  /** The piece that a placement is of. */
  private kindOf({ hold }: Pick<Place, "hold">): number {
    return placed(this.pieces.hand, hold);
  }

  /** What is aimed at, in words. */
  private aimed(place: Place): string {
    const { lines, terminal, attacks } = this.placements!;
    const kind = this.kindOf(place);
    const columns = place.cells.map(([, column]) => column + 1);
    const cleared = lines[place.at]!;
    const words = [
      `${place.hold ? `Holds ${LETTERS[this.pieces.hand.current]} for ` : ""}${LETTERS[kind]}`,
      `columns ${Math.min(...columns)} to ${Math.max(...columns)}`,
      `rests on row ${place.row + 1}`,
      ...(place.spin > 0 ? [nameOf(kind, place.spin, 0)] : []),
      ...(cleared > 0 ? [`clears ${cleared} ${cleared === 1 ? "line" : "lines"}`] : []),
      ...sentInWords(attacks?.[place.at] ?? 0),
      ...(terminal[place.at] === 1 ? ["ends the game"] : []),
    ];
    return words.join(", ");
  }

  /** Does an action. */
  private async step(action: number): Promise<void> {
    const { placements, aim, falling, tally } = this;
    const step = await this.alive((session) => session.step([action]));
    const board = step.observations.board!;
    const hand = handOf(step.observations, this.rules);
    const hasLanded = step.infos.pieces![0]! > tally.pieces;
    const place = aim?.place;
    const kind = this.kindOf(place ?? { hold: false });
    let deed = "";
    if (this.isKeypress) {
      if (hasLanded) {
        const cells = this.field.landing(kind, falling, board);
        if (cells !== undefined) {
          this.field.land(kind, cells, true);
        }
        this.placements = undefined;
      }
    } else {
      const lost = placements!.terminal[place!.at] === 1;
      this.field.land(kind, place!.cells, !lost || placements!.lines[place!.at]! > 0);
    }
    if (hasLanded) {
      this.field.agree(board);
      const after = tallyOf(step.infos);
      deed = deedInWords(kind, tally, after, this.field.top === 0);
      this.tally = { ...after, deed: deed || tally.deed };
      this.pieces.go(hand);
      this.rival.follow(Number(this.tally.pieces));
    } else if (hand.held !== this.pieces.hand.held) {
      // A piece was held: another one is in play.
      this.pieces.go(hand, false);
      this.placements = undefined;
    }
    if (step.terminated[0] === 1 || step.truncated[0] === 1) {
      this.over = `The game is over\n${grouped(this.tally.lines)} lines, ${grouped(this.tally.pieces)} pieces`;
    }
    await this.look(step);
    if (hasLanded) {
      const now = this.over?.replace("\n", ": ") ?? `${grouped(this.tally.lines)} lines. Now ${LETTERS[this.pieces.hand.current]}`;
      this.say(deed === "" ? now : `${deed}. ${now}`);
      await this.remember();
    }
  }

  /** Keeps the position. The last one is the present. */
  private async remember(): Promise<void> {
    const [state] = await this.session!.save();
    this.past.push({ state: state!, field: this.field.copy(), pieces: this.pieces.copy(), tally: this.tally });
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
      this.pieces = then.pieces.copy();
      this.tally = then.tally;
      this.rival.follow(Number(then.tally.pieces));
      this.over = undefined;
      this.placements = undefined;
      await this.look(restored);
    } catch (problem) {
      this.past.push(now);
      throw problem;
    }
    this.undoButton.disabled = this.past.length < 2;
    this.say(`Back to piece ${grouped(then.tally.pieces)}`);
  }

  /** What the adviser would do, and why. */
  private async showHint(): Promise<void> {
    if (this.session === undefined || this.placements === undefined || this.over !== undefined) {
      return;
    }
    const given = await this.advice.give(this.session, this.placements, this.pieces);
    if (given !== undefined) {
      this.hinted = given;
      this.draw();
      this.say(given.words);
    }
  }

  private draw(): void {
    const { width, height } = this.form.chosen;
    const { placements, field, over, hinted } = this;
    const hint = hinted && placements && { kind: hinted.kind, cells: cellsOf(placements, hinted.row) };
    const place = this.aim?.place;
    const { hand } = this.pieces;
    let piece: { kind: number; cells: readonly Cell[] } | undefined;
    let ghost: readonly Cell[] | undefined;
    if (over === undefined && this.isKeypress) {
      piece = { kind: hand.current, cells: this.falling };
      ghost = this.dropped();
    } else if (over === undefined && place !== undefined) {
      ghost = place.cells;
      piece = { kind: this.kindOf(place), cells: lifted(ghost, height) };
    }
    this.board.show({ width, height, cells: field.cells, last: field.last, piece, ghost, hint, words: over });
    // As it would be with what is aimed at.
    const shown = choosing(hand, place?.hold === true && over === undefined);
    this.side.show(shown);
    const held = shown.held >= 0 ? `, ${LETTERS[shown.held]} held` : "";
    this.board.surface.label = `Playfield, ${width} by ${height}: ${grouped(this.tally.lines)} lines, ${grouped(this.tally.pieces)} pieces, filled up to row ${field.top}${held}`;
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

/** A button for fingers. */
function pad(text: string, name: string, click: () => void): HTMLButtonElement {
  const made = button(text, click, "key");
  made.ariaLabel = name;
  return made;
}
