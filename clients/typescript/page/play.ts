// The view "Play": a person plays by placements or by keys, with hints, undo and an opponent.
//
// The game is on the server. The view keeps a snapshot of every position, for undo and to continue in another session when its own
// has expired. If keys steer a piece, moves that need no rules are shown before the server answers.

import type { FirstStep, Placements, Session } from "../src/index.js";
import { ActionModel, AutoresetMode, type Rules } from "../src/protocol.js";
import { type Choices, type Reader, seedOf } from "./address.js";
import { Advice } from "./advice.js";
import { Aim, type Place, placesOf } from "./aim.js";
import { type App, type View, isGone } from "./app.js";
import { Board, Side } from "./board.js";
import { SeedField, Turns, button, drawnSeed, field, grouped, h, number, options, select, short } from "./dom.js";
import { Facts } from "./facts.js";
import { Field } from "./field.js";
import { handBack, usesKey } from "./focus.js";
import { foreseen, moved } from "./foresight.js";
import { type Act, type Handling, Keyboard, MOVES, Repeats, USUAL_HANDLING, legend } from "./keyboard.js";
import { keep, kept } from "./kept.js";
import { type Hand, NO_PIECES, boardOf, choosing, comingInWords, handOf, incoming, placed } from "./pieces.js";
import { Rival } from "./rival.js";
import { ABOVE, type Chosen, STEPS_PER_SECOND, choicesOf, chosenOf, configOf, fullRulesOf, namesSpots, steers, tetrominoPresets } from "./rules.js";
import { RulesForm } from "./rules_form.js";
import { followSwipes } from "./swipes.js";
import { NOTHING, type Tally, endSpoken, landed, nameOf, sentInWords, tallyOf } from "./tally.js";
import { type Cell, LETTERS, lifted } from "./tetromino.js";
import { cellsAt, cellsOf, clearsRows } from "./weighing.js";

/** Maximum number of positions for undo. */
const MEMORY = 1000;
/** Milliseconds per step of the clock: if pieces fall one row per key, and if keys steer them. */
const STEP = { falling: 700, steered: 1000 / STEPS_PER_SECOND } as const;
/** Maximum number of steps that keys may be ahead of the clock. Fast keys do not make pieces fall faster. */
const MOST_AHEAD = STEPS_PER_SECOND;
/** Milliseconds between two checks of held keys. */
const TICK = 8;
/** Number of unanswered keys at which held keys stop repeating. */
const MOST_WAITING = 12;
/** Storage key for the timing of repeats. */
const HANDLING = "tetrion-keys";
/** Action numbers of keys under rules with key presses, and under rules where keys steer pieces. */
const KEY = { idle: 0, left: 1, right: 2, turnLeft: 3, turn: 4, drop: 5 } as const;
const STEERING = { ...KEY, down: 6, bottom: 7, turnHalf: 8, hold: 9 } as const;

/** Controls that take the keys from the game. */
const FIELDS = "select, textarea, input:not([type='checkbox'])";

/** Fields of the rules for the timing. */
const TIMED = ["fall_delay", "lock_delay", "lock_resets"];

/** A position of the game. */
interface Position {
  /** A snapshot; in a match one of each side. */
  readonly states: readonly Uint8Array[];
  readonly field: Field;
  readonly hand: Hand;
  readonly tally: Tally;
}

/** The view. */
export class Play implements View {
  readonly root = h("div", { class: "view play" });
  private readonly board = new Board(ABOVE);
  private readonly side = new Side();
  private readonly form: RulesForm;
  private readonly seed: SeedField;
  private readonly facts = new Facts("points");
  private readonly spoken = h("p", { class: "only-read", "aria-live": "polite" });
  private readonly advice: Advice;
  private readonly opponents = h("div", { class: "opponents" });
  private offered = "";
  private readonly rival: Rival;
  /** Name of the opponent; empty for none. */
  private against: string;
  /** Side of the person in a match: 0 or 1. Only the holes of the garbage differ. */
  private seat: number;
  private readonly rematchButton = Object.assign(button("Rematch", () => this.rematch()), { title: "The same pieces, with sides exchanged", hidden: true });
  private readonly undoButton = button("Undo", () => this.act("undo"));
  private readonly hintButton = button("Hint", () => this.act("hint"));
  private readonly pauseButton = button("Pause", () => this.press("pause"));
  private readonly holdButton = this.pad("⇄", "Hold", "hold");
  private readonly gravity = h("input", { type: "checkbox", id: "gravity", checked: true, onchange: () => this.await() });
  private readonly gravityField = h("div", { class: "check" }, this.gravity, h("label", { for: "gravity" }, "Pieces fall by themselves"));
  private readonly legend = h("div");
  private readonly keyboard = new Keyboard();
  private readonly repeats = new Repeats(keptHandling());
  private ticking: ReturnType<typeof setInterval> | undefined;
  /** Actions that the server has not answered, the oldest first. */
  private waiting: Act[] = [];
  private readonly turns = new Turns();
  private session: Session | undefined;
  private field = new Field(10, 20);
  private hand = NO_PIECES;
  private tally = NOTHING;
  private past: Position[] = [];
  private placements: Placements | undefined;
  /** The placement that the person aims at, if a step is a placement. */
  private aim: Aim | undefined;
  private falling: Cell[] = [];
  /** Mask of the existing actions. */
  private mask: Uint8Array | undefined;
  private over: string | undefined;
  private hinted: { row: number; kind: number } | undefined;
  private shown = false;
  /** Whether time passes: not before the first move, and not in a pause. */
  private clock: "waits" | "runs" | "pauses" = "waits";
  /** Whether the key for a new game was pressed once. */
  private isAsking = false;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Whether a step of the clock is in progress. */
  private isFalling = false;
  /** Pending steps of the clock; negative if keys have taken steps in advance. */
  private due = 0;

  constructor(private readonly app: App, address: Reader) {
    const presets = tetrominoPresets(app);
    const known = presets.find(({ rules }) => rules !== undefined && namesSpots(rules)) ?? presets[0]!;
    this.form = new RulesForm(app, chosenOf(known, true), address, () => this.begin(), { keys: true, matches: true });
    this.seed = new SeedField(address.parsed("seed", seedOf) ?? drawnSeed(), () => this.begin());
    const names = app.controllers(this.form.chosen.width).map(({ name }) => name);
    this.against = address.oneOf("against", names) ?? "";
    this.seat = this.form.chosen.isMatch && address.oneOf("side", ["1", "2"]) === "2" ? 1 : 0;
    this.rival = new Rival(app);
    this.advice = new Advice(app, address.oneOf("hint", names));
    this.root.append(
      h("h1", { class: "only-read" }, "Play by hand"),
      h("div", { class: "toolbar" },
        h("div", { class: "buttons" }, button("New game", () => this.act("new"), "primary"), this.rematchButton, this.pauseButton, this.undoButton, this.hintButton),
        options(this.opponents, this.form.element, this.seed.element)),
      h("div", { class: "floor" },
        h("div", { class: "stage" },
          h("div", { class: "left" }, this.side.hold, this.facts.element),
          h("div", { class: "playfield" }, this.board.surface.canvas),
          h("div", { class: "right" }, this.side.queue),
          this.rival.root,
          h("div", { class: "pad pad-left" }, this.pad("←", "Left", "left"), this.pad("↓", "Down", "down"), this.pad("→", "Right", "right")),
          h("div", { class: "pad pad-right" }, this.holdButton, this.pad("↺", "Turn left", "turnLeft"), this.pad("↻", "Turn right", "turn"), this.pad("⤓", "Drop", "drop"))),
        h("div", { class: "panel" },
          this.advice.root,
          h("section", { class: "card keyboard" }, h("h2", {}, "Keys"), this.gravityField, this.legend,
            h("p", { class: "source gestures" }, "On the playfield: drag to move the piece, tap to turn it (to the left on the left half), flick down to drop it, flick up to hold it."),
            this.handling()))),
      this.spoken);
    handBack(this.root);
    followSwipes(this.board.surface.canvas, () => this.board.surface.canvas.clientWidth / this.form.chosen.width, (act) => this.admits(act) && this.act(act));
    this.root.addEventListener("focusin", ({ target }) => target instanceof Element && target.matches(FIELDS) && this.pause());
  }

  enter(): void {
    this.shown = true;
    document.addEventListener("keydown", this.keys);
    document.addEventListener("keyup", this.keys);
    document.addEventListener("pointerdown", this.interrupt);
    addEventListener("blur", this.away);
    document.addEventListener("visibilitychange", this.away);
    this.wind();
    if (this.session === undefined || this.app.given !== undefined) {
      this.begin();
    }
  }

  leave(): void {
    this.shown = false;
    document.removeEventListener("keydown", this.keys);
    document.removeEventListener("keyup", this.keys);
    document.removeEventListener("pointerdown", this.interrupt);
    removeEventListener("blur", this.away);
    document.removeEventListener("visibilitychange", this.away);
    this.interrupt();
    this.away();
    clearInterval(this.timer);
    this.app.notice(undefined);
  }

  choices(): Choices {
    const { against, advice, env } = this;
    return { ...choicesOf(this.app, this.form.chosen), seed: String(this.seed.value), ...(against !== "" && { against }), ...(env === 1 && { side: "2" }), ...(advice.isChosen && { hint: advice.name }) };
  }

  close(): void {
    this.app.end(this.session);
    this.session = undefined;
    this.rival.begin(undefined);
  }

  /** Fields for the timing of repeats. */
  private handling(): HTMLElement {
    const change = (part: Partial<Handling>) => {
      this.repeats.handling = { ...this.repeats.handling, ...part };
      keep("local", HANDLING, this.repeats.handling);
    };
    const { delay, repeat, down } = this.repeats.handling;
    return h("div", { class: "fields handling" },
      field("Shift delay, ms", number(delay, 0, 1000, (delay) => change({ delay })), "How long left and right are held until they repeat: delayed auto-shift, DAS"),
      field("Repeat, ms", number(repeat, 0, 1000, (repeat) => change({ repeat })), "Between two repeats of left or right: auto-repeat rate, ARR. At 0 the piece goes to the wall at once"),
      field("Down, ms", number(down, 10, 1000, (down) => change({ down })), "Between two rows down while that key is held: soft drop"));
  }

  private readonly keys = (event: KeyboardEvent): void => {
    const { target, key } = event;
    if (event.type === "keyup") {
      const released = this.keyboard.released(event, this.rules);
      if (released !== undefined) {
        this.repeats.release(released);
      }
    }
    const act = event.type === "keyup" ? this.keyboard.up(event, this.rules) : this.keyboard.down(event, this.rules);
    if (usesKey(target, key)) {
      return;
    }
    if (act !== undefined) {
      event.preventDefault();
      this.press(act);
    } else if (event.repeat && [" ", "ArrowUp", "ArrowDown"].includes(key)) {
      event.preventDefault(); // the page does not scroll away under the game
    }
  };

  /** Does the action of a key or a button, and repeats it while it is held. */
  private press(act: Act): void {
    if (!this.admits(act)) {
      return;
    }
    this.act(act);
    this.repeats.press(act, performance.now());
    if (this.repeats.isHeld) {
      this.ticking ??= setInterval(this.tick, TICK);
    }
  }

  /** Repeats the actions of held keys. */
  private readonly tick = (): void => {
    if (!this.repeats.isHeld) {
      clearInterval(this.ticking);
      this.ticking = undefined;
      return;
    }
    for (const { act, times } of this.repeats.due(performance.now())) {
      // Going to the next place below does not repeat: a person could not see where it stops.
      const repeats = act === "down" && !this.isKeypress ? 0 : Math.min(times, this.form.chosen.width);
      for (let time = 0; time < repeats && this.waiting.length < MOST_WAITING && this.canMove(act); time++) {
        this.act(act);
      }
    }
  };

  /** Whether a repeat would have an effect. A repeat without effect would cost a call, and a falling piece its time. */
  private canMove(act: Act): boolean {
    if (this.over !== undefined) {
      return false;
    }
    return !this.steers || String(moved(this.foreseen(), act, (cell) => this.isFree(cell))) !== String(this.foreseen());
  }

  private readonly letGo = (): void => this.repeats.releaseAll();

  /** The keys go elsewhere. */
  private readonly away = (): void => {
    this.letGo();
    this.pause();
  };

  /** Whether time can pass: pieces fall, and the game goes on. */
  private get hasClock(): boolean {
    return this.isKeypress && this.gravity.checked && this.over === undefined && this.session !== undefined;
  }

  /** Stops the clock until the next move. */
  private pause(): void {
    if (this.hasClock && this.clock === "runs") {
      this.clock = "pauses";
      this.letGo();
      this.draw();
      this.say("Paused");
    }
  }

  /** Stops the clock until the first move. */
  private await(): void {
    [this.clock, this.isAsking] = ["waits", false];
    this.draw();
  }

  /** Whether a person's action is to be done. The first move starts the clock; a move in a pause ends it, and nothing else. */
  private admits(act: Act): boolean {
    const wasAsking = this.isAsking;
    if (act === "new" && !wasAsking && this.tally.pieces > 0 && this.over === undefined) {
      this.pause();
      this.say("New game? N again begins one, another key goes on");
      this.isAsking = true;
      this.draw();
      return false;
    }
    this.isAsking = false;
    if (this.hasClock && this.clock === "pauses" && (act === "pause" || MOVES.includes(act))) {
      this.clock = "runs";
      this.draw();
      this.say("Goes on");
      return false;
    }
    if (act === "pause") {
      this.pause();
    } else if (MOVES.includes(act)) {
      this.clock = "runs";
    }
    this.draw();
    return act !== "pause";
  }

  /** A button for touch screens. It acts on touch, and repeats like a key. */
  private pad(text: string, name: string, act: Act): HTMLButtonElement {
    // Keyboards and screen readers click without a pointer.
    const made = h("button", { type: "button", class: "key", onclick: ({ detail }) => detail === 0 && this.admits(act) && this.act(act) }, text);
    made.ariaLabel = name;
    made.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.press(act);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"] as const) {
      made.addEventListener(end, () => this.repeats.release(act));
    }
    made.addEventListener("contextmenu", (event) => event.preventDefault());
    return made;
  }

  /** Starts the clock of the current game. */
  private wind(): void {
    clearInterval(this.timer);
    this.timer = this.shown ? setInterval(() => this.fall(), this.steers ? STEP.steered : STEP.falling) : undefined;
  }

  private readonly interrupt = (): void => this.keyboard.interrupt();

  private get isKeypress(): boolean {
    return this.rules.actionModel === ActionModel.KEYPRESS;
  }

  private get isMatch(): boolean {
    return this.rules.players === 2;
  }

  /** The person's environment in the session. */
  private get env(): number {
    return this.isMatch ? this.seat : 0;
  }

  private get steers(): boolean {
    return steers(this.rules);
  }

  /** Rules of the session with every field, or the chosen rules before there is a session. */
  private get rules(): Rules {
    return this.session?.description.config?.rules ?? fullRulesOf(this.app, this.form.chosen);
  }

  /** Does an action. */
  private act(act: Act): void {
    const isSteered = this.steers && this.over === undefined && STEERING[act as keyof typeof STEERING] !== undefined;
    if (isSteered) {
      this.waiting.push(act);
      this.draw();
    }
    let waits = isSteered;
    const answered = () => {
      if (waits) {
        waits = false;
        this.waiting.shift();
      }
    };
    void this.guarded(async () => {
      if (act === "new") {
        [this.seed.value, this.seat] = [drawnSeed(), 0];
        await this.start();
      } else if (act === "undo") {
        await this.undo();
      } else if (this.over === undefined && this.session !== undefined) {
        if (act === "hint") {
          await this.showHint();
        } else if (this.isKeypress) {
          return await this.strike(act, answered);
        } else if (this.aim !== undefined && act === "drop") {
          await this.step(this.placements!.actions[this.aim.place.at]!);
        } else if (this.aim !== undefined && act !== "drop" && act !== "bottom" && act !== "pause") {
          this.steer(act, this.aim);
        }
      }
      answered();
    }, answered);
  }

  /** Presses the key of an action, if the rules have one. Calls `answered` once, when the server has answered. */
  private async strike(act: Act, answered: () => void): Promise<void> {
    const keys: Partial<Record<Act, number>> = this.steers ? STEERING : { ...KEY, down: KEY.idle };
    const key = keys[act];
    if (key === undefined || this.mask?.[key] === 0) {
      answered();
      if (key !== undefined) {
        this.say("The piece cannot be held now");
        this.draw();
      }
      return;
    }
    // If keys steer, every key except hold is a step of the clock.
    this.due = this.steers && act !== "hold" ? Math.max(this.due - 1, -MOST_AHEAD) : this.due;
    await this.step(key, answered);
    if (act === "hold" && this.over === undefined) {
      this.say(`Now ${LETTERS[this.hand.current]}`);
    }
  }

  /** Takes a step of the clock under rules with key presses, but not faster than the server answers. */
  private fall(): void {
    if (!this.hasClock || this.clock !== "runs") {
      return;
    }
    this.due = Math.min(this.due + 1, 1);
    if (this.due === 1 && !this.isFalling && this.waiting.length === 0) {
      this.isFalling = true;
      this.due = 0;
      void this.guarded(() => this.step(KEY.idle)).finally(() => (this.isFalling = false));
    }
  }

  /** Starts a match on the same pieces with sides exchanged. */
  private rematch(): void {
    void this.guarded(async () => {
      this.seat = 1 - this.seat;
      await this.start();
      this.say("The same pieces, with sides exchanged");
    });
  }

  private begin(): void {
    void this.guarded(() => this.start());
  }

  private async start(): Promise<void> {
    await this.form.settle();
    const { width, height } = this.form.chosen;
    const old = this.session;
    const { given } = this.app;
    this.session = this.app.given = undefined;
    this.app.end(old);
    this.session = await this.open(this.seed.value);
    const first = given === undefined ? await this.session.reset() : await this.session.restoreState({ snapshots: given.map(({ state }) => state) });
    const { rules } = this;
    this.field = given?.[this.env]!.field.copy() ?? new Field(width, rules.height ?? height);
    this.hand = handOf(first.observations, rules, this.env);
    this.tally = tallyOf(first.infos, this.env);
    this.past = [];
    this.over = undefined;
    this.placements = undefined;
    [this.due, this.hinted] = [0, undefined];
    [this.clock, this.isAsking] = ["waits", false];
    this.letGo();
    this.gravityField.hidden = this.pauseButton.hidden = !this.isKeypress;
    this.rematchButton.hidden = !this.isMatch;
    this.root.classList.toggle("versus", this.isMatch);
    this.wind();
    this.side.begin(rules);
    this.holdButton.disabled = rules.hold !== true;
    this.legend.replaceChildren(legend(rules));
    this.root.style.setProperty("--next", String(Math.max(1, rules.preview ?? 0)));
    this.root.style.setProperty("--play-ratio", String(width / (height + ABOVE)));
    this.offer(this.form.chosen);
    this.challenge(first);
    this.app.changed();
    await this.advice.learn(width);
    await this.look(first);
    await this.remember();
  }

  /** Starts the opponent's game on the same pieces, in a match with the first answer of the session, or ends it. */
  private challenge(first?: FirstStep): void {
    const { against: controller, isKeypress, steers } = this;
    // The opponent lands one piece per piece of the person. If keys steer, it plays by placements, without time.
    const { changes } = this.form.chosen;
    const untimed = Object.fromEntries(Object.entries(changes).filter(([path]) => !TIMED.includes(path)));
    const chosen = { ...this.form.chosen, byKeys: false, changes: steers ? untimed : changes };
    const shared = this.isMatch && first !== undefined ? { first, rules: this.rules, env: 1 - this.env, alive: <T>(call: (session: Session) => Promise<T>) => this.alive(call) } : undefined;
    this.rival.begin(controller === "" ? undefined : { controller, isKeypress: isKeypress && !steers, chosen, seed: this.seed.value, shared });
  }

  /** Creates a session with the chosen rules. */
  private async open(seed?: bigint): Promise<Session> {
    const config = configOf(this.app, this.form.chosen);
    const envSeeds = seed === undefined ? undefined : Array<bigint>(config.numEnvs).fill(seed);
    return await this.app.session("Play", { ...config, autoresetMode: AutoresetMode.DISABLED, actionMask: this.form.chosen.byKeys, envSeeds });
  }

  /** Offers the controllers for hints and as opponents. An unchanged list keeps the keyboard focus. */
  private offer(chosen: Chosen): void {
    const controllers = this.app.controllers(chosen.width);
    const strongest = this.app.strongest(chosen);
    const { isMatch } = this;
    const offered = [isMatch, strongest, ...controllers.map(({ name }) => name)].join();
    if (offered === this.offered) {
      this.advice.clear();
      return;
    }
    this.offered = offered;
    this.advice.offer(controllers, strongest, () => {
      this.app.changed();
      void this.guarded(async () => {
        await this.advice.learn(this.form.chosen.width);
        await this.showHint();
      });
    });
    const usual = isMatch ? strongest ?? controllers[0]!.name : "";
    this.against = controllers.some(({ name }) => name === this.against) ? this.against : usual;
    const nobody = isMatch ? [] : [["", "nobody"] as const];
    const opponent = select([...nobody, ...controllers.map(({ name }) => [name, name] as const)], this.against, (name) => {
      this.against = name;
      if (this.isMatch) {
        this.begin();
        return;
      }
      this.challenge();
      this.rival.follow(this.tally.pieces);
      this.app.changed();
    });
    this.opponents.replaceChildren(field("Against", opponent, "A controller that gets the same pieces, and lands one for each of yours"));
  }

  /** Lists the placements of the current piece, for a hint with the values that the adviser gives them. */
  private async enumerate(forHint = false): Promise<void> {
    if (this.over === undefined) {
      const asked = forHint ? this.advice.asks(this.rules.preview ?? 0) : undefined;
      this.placements = await this.alive((session) => session.enumeratePlacements({ includeCells: true, envIds: [this.env], ...asked }));
    }
  }

  /** Takes a new position from the server. */
  private async look({ observations, infos, actionMask }: FirstStep): Promise<void> {
    this.mask = actionMask;
    this.field.agree(boardOf(observations, this.rules, this.env));
    const cells = observations.falling_cells;
    this.falling = cells === undefined ? [] : cellsAt(cells, 0);
    // Keys may earn points between landings, too.
    this.tally = { ...this.tally, points: tallyOf(infos, this.env).points };
    this.facts.show(this.tally, this.isMatch ? undefined : short(this.tally.points), incoming(this.hand));
    this.undoButton.disabled = this.past.length < 2;
    if (!this.isKeypress || this.placements === undefined) {
      this.hinted = undefined;
      this.advice.clear();
    }
    if (!this.isKeypress) {
      await this.enumerate();
      const isPlaced = this.over === undefined && this.placements!.actions.length > 0;
      this.aim = isPlaced ? new Aim(this.rules, placesOf(this.placements!)) : undefined;
    }
    this.draw();
  }

  /** Moves, turns or swaps the piece that the person aims. */
  private steer(act: Exclude<Act, "drop" | "bottom" | "hint" | "undo" | "new" | "pause">, aim: Aim): void {
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
      aim.turn(({ turn: 1, turnHalf: 2, turnLeft: 3 } as const)[act]);
    }
    this.draw();
    this.say(this.aimed(aim.place));
  }

  /** The piece of a placement. */
  private kindOf({ hold }: Pick<Place, "hold">): number {
    return placed(this.hand, hold);
  }

  /** The aimed placement in words. */
  private aimed(place: Place): string {
    const { lines, terminated, attacks } = this.placements!;
    const kind = this.kindOf(place);
    const columns = place.cells.map(([, column]) => column + 1);
    const cleared = lines[place.at]!;
    const words = [
      `${place.hold ? `Holds ${LETTERS[this.hand.current]} for ` : ""}${LETTERS[kind]}`,
      `columns ${Math.min(...columns)} to ${Math.max(...columns)}`,
      `rests on row ${place.row + 1}`,
      ...(place.spin > 0 ? [nameOf(kind, place.spin, 0)] : []),
      ...(cleared > 0 ? [`clears ${cleared} ${cleared === 1 ? "line" : "lines"}`] : []),
      ...sentInWords(attacks?.[place.at] ?? 0),
      ...(terminated[place.at] === 1 ? ["ends the game"] : []),
    ];
    return words.join(", ");
  }

  /** Takes a step, in a match together with the opponent. Calls `answered` when the server has answered. */
  private async step(action: number, answered = () => {}): Promise<void> {
    const { placements, aim, falling, tally, env, isMatch } = this;
    const theirs = isMatch ? await this.rival.choose() : undefined;
    const actions = theirs === undefined ? [action] : env === 0 ? [action, theirs.action] : [theirs.action, action];
    const step = await this.alive((session) => session.step(actions)).finally(answered);
    const board = boardOf(step.observations, this.rules, env);
    const hand = handOf(step.observations, this.rules, env);
    const hasLanded = step.infos.pieces![env]! > tally.pieces;
    const place = aim?.place;
    const kind = this.kindOf(place ?? { hold: false });
    let deeds: string[] = [];
    if (this.isKeypress) {
      if (hasLanded) {
        const cells = this.field.landing(kind, falling, board);
        if (cells !== undefined) {
          this.field.land(kind, cells, true);
        }
        this.placements = undefined;
      }
    } else {
      this.field.land(kind, place!.cells, clearsRows(placements!, place!.at));
    }
    if (hasLanded) {
      this.field.agree(board);
      const now = landed(tally, step.infos, kind, this.field.top === 0, env);
      [this.tally, this.hand, deeds] = [now.tally, hand, [now.deed]];
      if (theirs === undefined) {
        this.rival.follow(this.tally.pieces);
      } else {
        const deed = await this.rival.take(step, theirs);
        deeds.push(deed && `${this.against}: ${deed}`);
      }
    } else if (hand.held !== this.hand.held) {
      // A piece was held, and another one is the current piece.
      this.hand = hand;
      this.placements = undefined;
    }
    if (step.terminated[env] === 1 || step.truncated[env] === 1) {
      const { won, lines, sent = 0, pieces } = this.tally;
      const [result, what] = won === undefined ? ["The game is over", `${grouped(lines)} lines`] : [["You lost", "A draw", "You won"][won + 1], `${grouped(sent)} lines sent`];
      this.over = `${result}\n${what}, ${grouped(pieces)} pieces`;
    }
    await this.look(step);
    if (hasLanded) {
      const now = this.over?.replace("\n", ": ") ?? `${grouped(this.tally.lines)} lines${comingInWords(hand)}. Now ${LETTERS[this.hand.current]}`;
      this.say([...deeds, now].filter((text) => text !== "").join(". "));
      await this.remember();
    }
  }

  /** Stores the current position at the end of the history. */
  private async remember(): Promise<void> {
    const states = await this.session!.saveState();
    this.past.push({ states, field: this.field.copy(), hand: this.hand, tally: this.tally });
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
      const restored = await this.alive((session) => session.restoreState({ snapshots: then.states }));
      this.field = then.field.copy();
      this.hand = then.hand;
      this.tally = then.tally;
      this.rival.follow(then.tally.pieces);
      this.over = undefined;
      this.placements = undefined;
      this.clock = "waits";
      await this.look(restored);
    } catch (problem) {
      this.past.push(now);
      throw problem;
    }
    this.undoButton.disabled = this.past.length < 2;
    this.say(`Back to piece ${grouped(then.tally.pieces)}`);
  }

  /** Shows the adviser's choice and its reasons. */
  private async showHint(): Promise<void> {
    if (this.session === undefined || this.over !== undefined) {
      return;
    }
    await this.enumerate(true);
    const { placements } = this;
    const given = placements && (await this.alive((session) => this.advice.give(session, placements, this.hand, this.env)));
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
    const { hand } = this;
    let piece: { kind: number; cells: readonly Cell[] } | undefined;
    let ghost: readonly Cell[] | undefined;
    if (over === undefined && this.isKeypress) {
      const cells = this.foreseen();
      piece = { kind: hand.current, cells };
      ghost = moved(cells, "bottom", (cell) => this.isFree(cell));
    } else if (over === undefined && place !== undefined) {
      ghost = place.cells;
      piece = { kind: this.kindOf(place), cells: lifted(ghost, height) };
    }
    const words = over ?? this.notice();
    this.board.show({ width, height, cells: field.cells, last: field.last, piece, ghost, hint, words, isClear: over === undefined && this.clock !== "pauses", garbage: hand.garbage });
    this.pauseButton.disabled = !this.hasClock || this.clock === "waits";
    this.pauseButton.textContent = this.clock === "pauses" && over === undefined ? "Go on" : "Pause";
    // With the aimed placement.
    const shown = choosing(hand, place?.hold === true && over === undefined);
    this.side.show(shown);
    const held = `${shown.held >= 0 ? `, ${LETTERS[shown.held]} held` : ""}${comingInWords(hand)}`;
    this.board.surface.label = `Playfield, ${width} by ${height}: ${grouped(this.tally.lines)} lines, ${grouped(this.tally.pieces)} pieces, filled up to row ${field.top}${held}${endSpoken(over)}`;
  }

  /** Words across the board during the game. */
  private notice(): string | undefined {
    if (this.isAsking) {
      return "New game?\nN again begins one";
    }
    if (!this.hasClock || this.clock === "runs") {
      return undefined;
    }
    return this.clock === "pauses" ? "Paused\nany move goes on" : "Ready\nyour first move starts";
  }

  /** The falling piece after the unanswered keys, as far as the page can predict it without rules. */
  private foreseen(): readonly Cell[] {
    return foreseen(this.falling, this.waiting, (cell) => this.isFree(cell));
  }

  private isFree([row, column]: Cell): boolean {
    const { width } = this.form.chosen;
    return row >= 0 && column >= 0 && column < width && (this.field.cells[row * width + column] ?? 0) === 0;
  }

  /** Tells screen readers what has happened. While the page asks, nothing else takes the question's place. */
  private say(text: string): void {
    if (!this.isAsking) {
      this.spoken.textContent = text;
    }
  }

  /** Makes a call on the session. If the session has expired, continues from the last position in a new one. */
  private async alive<T>(call: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await call(this.session!);
    } catch (problem) {
      const last = this.past.at(-1);
      if (!isGone(problem) || last === undefined) {
        throw problem;
      }
      this.session = await this.open();
      await this.session.restoreState({ snapshots: last.states });
      return await call(this.session);
    }
  }

  private async guarded(work: () => Promise<void>, failed = () => {}): Promise<void> {
    try {
      await this.turns.take(work);
      this.app.notice(undefined);
    } catch (problem) {
      failed();
      if (isGone(problem)) {
        this.session = undefined;
        this.begin();
      } else {
        this.app.notice(problem);
        this.draw();
      }
    }
  }
}

/** Timing of repeats that this browser has stored. */
function keptHandling(): Handling {
  const isNumber = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1000;
  const isHandling = (value: unknown): value is Handling => Object.keys(USUAL_HANDLING).every((name) => isNumber((value as Record<string, unknown> | null)?.[name]));
  return kept("local", HANDLING, isHandling) ?? USUAL_HANDLING;
}
