// The view "Replay": a recorded game, from a file, a link, or a game of an evaluation. It is played again by the server, compared with
// the record, and judged by a player: what each choice gives away against that player's best placement.

import { type Placements, placementOf } from "../src/index.js";
import type { Recording } from "../src/protocol.js";
import { type Choices, type Reader, seedOf, writeAddress } from "./address.js";
import { type App, type View, inWords, isGone } from "./app.js";
import { Board, Side } from "./board.js";
import { type Choice, Course, EXACT, type Judge, MOST_STEPS, type Standing, type Verdict } from "./course.js";
import { arrow, button, copyButton, drawnSeed, field, grouped, h, save, select, short, sleep } from "./dom.js";
import { Facts } from "./facts.js";
import { handBack, usesKey } from "./focus.js";
import { Heat } from "./heat.js";
import { Losses } from "./losses.js";
import { choosing, comingInWords, incoming, placed } from "./pieces.js";
import { checkRecording, jsonOf, recordingIn, recordingOf, textOf } from "./recording.js";
import { ABOVE, type Chosen, choicesOf, chosenFrom, chosenOf, readChosen, rulesOf, tetrominoPresets, visibleRows } from "./rules.js";
import { endInWords, endSpoken } from "./tally.js";
import { LETTERS, lifted } from "./tetromino.js";
import { type Player, cellsOf, judgementOf, playerOf, policyOfWeights, warmth } from "./weighing.js";

/** Steps per second while it plays. */
const SPEEDS = ["1", "4", "10", "30"];
/** Milliseconds that a step stays until its placements are asked for. */
const PATIENCE = 120;
/** Number of listed blunders. */
const MOST_BLUNDERS = 6;

/** The player by exact values, on playfields that have them: its losses are lines, the regret of a choice. */
const OPTIMUM = "optimal";

/** A game of an evaluation, which the server plays anew. */
interface Source {
  readonly chosen: Chosen;
  readonly seed: bigint;
  readonly player: Player;
}

/** A side of the game on the screen. */
class Seat {
  readonly board: Board;
  readonly side = new Side();
  readonly facts = new Facts();
  readonly name = h("h2", {}, "");
  readonly element: HTMLElement;

  constructor(label: string) {
    this.board = new Board(ABOVE, label);
    this.element = h("div", { class: "seat" }, this.board.surface.canvas, h("div", { class: "seat-facts" }, this.name, this.facts.element, this.side.hold, this.side.queue));
  }
}

/** The view. */
export class Replay implements View {
  readonly root = h("div", { class: "view replay" });
  private readonly file = h("input", { type: "file", id: "recording", accept: ".json,.tetrion", class: "only-read", onchange: () => void this.take(this.file.files?.[0]) });
  private readonly empty = h("section", { class: "card empty drop" },
    h("h2", {}, "Open a recorded game"),
    h("p", {}, "Drop a file here, or ", h("label", { for: "recording", class: "button" }, "choose one", this.file), ". The server plays it again, move by move, and says whether it is as recorded."),
    h("p", { class: "remark" }, "Recordings come from ", h("code", {}, "tetrion evaluate --record best --record-dir games"), ", from ", h("code", {}, "tetrion play --record"), ", and from Python. A bar in Evaluate opens one too."));
  private readonly verdict = h("p", { class: "proof", role: "status" });
  private readonly seats = h("div", { class: "seats" });
  private readonly scrub = h("input", { type: "range", min: "0", max: "0", value: "0", step: "1", oninput: () => this.go(Number(this.scrub.value)) });
  private readonly count = h("output", {}, "");
  private readonly playButton = button("Play", () => this.toggle(), "primary");
  private readonly speed: HTMLSelectElement;
  private readonly judgeField = h("div");
  private readonly judges = h("div", { class: "fields judges" });
  private readonly losses = new Losses((step) => this.go(step));
  private readonly sum = h("p", { class: "remark" });
  private readonly blunders = h("ol", { class: "blunders" });
  private readonly heat = new Heat(() => this.draw());
  private readonly move = h("p", {});
  private readonly judged: HTMLElement;
  private readonly shownGame: HTMLElement;
  private readonly links = h("div", { class: "fields" });
  private course: Course | undefined;
  /** Text of the game for the address; undefined if it is too long, or if `source` has it. */
  private text: string | undefined;
  private source: Source | undefined;
  /** The chosen judge; undefined before a choice. */
  private judge: string | undefined;
  /** Name of the player that judges. */
  private judgeName = "";
  private side = 0;
  private step = 0;
  /** The step of the address, until it has been played. */
  private wanted: number | undefined;
  private running = false;
  private isShown = false;
  private look: { readonly step: number; readonly side: number; readonly placements: Placements; readonly row: number } | undefined;
  private stop = new AbortController();
  private judging = new AbortController();
  private looking: ReturnType<typeof setTimeout> | undefined;
  private shown: Seat[] = [];
  /** Number of works begun, so that the end of an older one takes back no notice. */
  private works = 0;

  constructor(private readonly app: App, address: Reader) {
    this.judge = address.oneOf("judge", [...app.controllers(10).map(({ name }) => name), OPTIMUM]);
    this.wanted = address.parsed("step", (text) => Number(seedOf(text)));
    this.speed = select(SPEEDS.map((speed) => [speed, `${speed} a second`] as const), "4", () => undefined);
    const controls = h("div", { class: "row controls-of-time" },
      arrow("|◂", "To the start", () => this.go(0)), arrow("◂", "Back", () => this.go(this.step - 1)), this.playButton, arrow("▸", "Step", () => this.go(this.step + 1)), arrow("▸|", "To the end", () => this.go(Infinity)),
      field("Speed", this.speed), this.count);
    this.scrub.ariaLabel = "Step";
    this.judged = h("section", { class: "card" }, h("h2", {}, "What each choice gives away"), this.judges, this.losses.surface.canvas, this.sum, this.blunders);
    const legend = h("div", { class: "legend", "aria-hidden": "true" }, h("span", {}, "worse"), h("i", {}), h("span", {}, "better"));
    this.shownGame = h("div", { class: "columns even", hidden: true },
      h("section", { class: "card watched" }, this.verdict, this.seats, this.scrub, controls, this.links),
      h("div", {}, h("section", { class: "card this-move" }, h("h2", {}, "This move"), this.move, this.heat.surface.canvas, legend), this.judged));
    this.root.append(h("h1", { class: "only-read" }, "Replay of a recorded game"), this.empty, this.shownGame);
    for (const kind of ["dragover", "drop"] as const) {
      this.root.addEventListener(kind, (event) => {
        event.preventDefault();
        if (kind === "drop") {
          void this.take(event.dataTransfer?.files[0]);
        }
      });
    }
    handBack(this.root);
    void this.openAddress(address);
  }

  enter(): void {
    this.isShown = true;
    document.addEventListener("keydown", this.keys);
  }

  leave(): void {
    this.isShown = this.running = false;
    document.removeEventListener("keydown", this.keys);
    this.app.notice(undefined);
  }

  close(): void {
    this.stop.abort();
    this.judging.abort();
  }

  choices(): Choices {
    const { source, text, judge, step, wanted } = this;
    const game = source !== undefined ? { ...choicesOf(this.app, source.chosen), seed: String(source.seed), ...playerOf(source.player, "player", "") } : text === undefined ? {} : { game: text };
    const at = wanted ?? step;
    return { ...game, ...(Object.keys(game).length > 0 && at > 0 && { step: String(at) }), ...(judge !== undefined && { judge }) };
  }

  private readonly keys = (event: KeyboardEvent): void => {
    if (this.course === undefined || usesKey(event.target, event.key) || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const act = { " ": () => this.toggle(), "ArrowRight": () => this.go(this.step + 1), "ArrowLeft": () => this.go(this.step - 1), "Home": () => this.go(0), "End": () => this.go(Infinity) }[event.key];
    if (act !== undefined) {
      event.preventDefault();
      act();
    }
  };

  /** Opens the game that the address has, if any. */
  private async openAddress(address: Reader): Promise<void> {
    const [game, player, formula] = [address.text("game"), address.text("player"), address.text("formula")];
    if (game !== undefined) {
      this.text = game;
      return await this.guarded("The link", async () => await this.open(await recordingIn(game)));
    }
    const seed = address.parsed("seed", seedOf);
    if (player === undefined && formula === undefined) {
      return;
    }
    const presets = tetrominoPresets(this.app);
    const chosen = readChosen(this.app, presets, address, chosenOf(presets[0]!));
    const names = this.app.controllers(chosen.width).map(({ name }) => name);
    const known = player === undefined ? "" : address.oneOf("player", names);
    if (known !== undefined) {
      const weights = formula !== undefined ? undefined : this.app.weightsIn(address, "weights", known);
      this.source = { chosen, seed: seed ?? drawnSeed(), player: { name: known, formula, weights } };
      await this.guarded("The game", async () => await this.open(await this.played(this.source!)));
    }
  }

  /** The recording of a game of an evaluation: the server plays it, and sends the actions. */
  private async played({ chosen, seed, player: { name, formula, weights } }: Source): Promise<Recording> {
    this.say("The server plays the game …");
    this.empty.hidden = true;
    const edited = async (weights: readonly number[]) => policyOfWeights({ ...(await this.app.weighing(name, chosen.width)), weights: [...weights] }, chosen.preview);
    const policy = formula !== undefined ? { formula } : weights !== undefined ? await edited(weights) : this.app.policy(name, chosen.preview);
    const evaluation = { rules: rulesOf(this.app, chosen), policies: [policy], seeds: [seed], maxPieces: BigInt(MOST_STEPS), includeRecordings: true, signal: this.stop.signal };
    for await (const event of this.app.client.evaluate(evaluation)) {
      if (event.case === "recording") {
        return event.value.recording!;
      }
    }
    throw new RangeError("the server sent no recording");
  }

  /** Takes a file of the user. */
  private async take(file: File | undefined): Promise<void> {
    if (file === undefined) {
      return;
    }
    await this.guarded(file.name, async () => {
      const recording = recordingOf(new Uint8Array(await file.arrayBuffer()));
      checkRecording(recording, this.app.info.rulesVersion);
      this.wanted = this.source = undefined;
      this.text = await textOf(recording);
      await this.open(recording);
    });
  }

  /** Plays a recording again, from its beginning. */
  private async open(recording: Recording): Promise<void> {
    checkRecording(recording, this.app.info.rulesVersion);
    this.close();
    [this.stop, this.step, this.side, this.look, this.running] = [new AbortController(), 0, 0, undefined, false];
    const course = (this.course = new Course(this.app, recording));
    this.arrange(course);
    this.app.changed();
    const { signal } = this.stop;
    await course.play(signal, () => this.progressed(course));
    if (await course.hasExactValues()) {
      this.offer(course, [OPTIMUM, ...this.app.controllers(course.rules.width!).map(({ name }) => name)], OPTIMUM);
    }
    await this.judgeAll(course);
  }

  /** Shows the progress of the replay. */
  private progressed(course: Course): void {
    if (course !== this.course) {
      return;
    }
    const last = course.moments.length - 1;
    this.scrub.max = String(Math.max(course.isDone ? 0 : course.numSteps, last));
    if (this.wanted !== undefined && (this.wanted <= last || course.isDone)) {
      const step = Math.min(this.wanted, last);
      this.wanted = undefined;
      this.go(step);
    }
    const { actions } = course.recording;
    const steps = course.isPlaced ? "placements" : "keys";
    this.verdict.dataset["proof"] = course.difference !== undefined ? "differs" : course.isDone ? "same" : "waits";
    if (course.difference !== undefined) {
      this.say(`Not as recorded: ${course.difference}`);
    } else if (!course.isDone) {
      this.say(`Playing it again: ${grouped(last)} of ${grouped(course.numSteps)} ${steps} …`);
    } else if (course.isCut) {
      this.say(`As recorded up to step ${grouped(last)} of ${grouped(actions.length)}. tetrion replay checks all of it`);
    } else {
      this.say(`As recorded: ${grouped(last)} ${steps}, every landing, the totals, and the last playfield`);
    }
    this.draw();
  }

  private say(words: string): void {
    this.shownGame.hidden = false;
    this.verdict.textContent = words;
  }

  /** Builds the boards and the choices for a game. */
  private arrange(course: Course): void {
    const { recording, rules } = course;
    this.empty.hidden = true;
    this.shown.forEach(({ board, side }) => {
      board.surface.drop();
      side.drop();
    });
    this.shown = range(course.players).map((at) => {
      const seat = new Seat(`Playfield ${at + 1}`);
      seat.side.begin(rules);
      const player = at === 0 ? recording.player : recording.opponent!.player;
      seat.name.textContent = player || (course.players === 1 ? "A recorded game" : `Side ${at + 1}`);
      return seat;
    });
    this.seats.replaceChildren(...this.shown.map(({ element }) => element));
    this.seats.style.setProperty("--ratio", String(rules.width! / (visibleRows(rules) + ABOVE)));
    this.seats.style.setProperty("--seats", String(course.players));
    this.seats.style.setProperty("--next", String(Math.max(1, Math.min(5, rules.preview ?? 0))));
    const chosen = chosenFrom(this.app, rules);
    const controllers = this.app.controllers(rules.width!).map(({ name }) => name);
    this.offer(course, controllers, (chosen && this.app.strongest(chosen)) ?? controllers[0]!);
    const sides = select(range(course.players).map((at) => [String(at), this.shown[at]!.name.textContent!] as const), "0", (at) => {
      this.side = Number(at);
      void this.guarded("The game", () => this.judgeAll(course));
    });
    this.judges.replaceChildren(this.judgeField, ...(course.players === 1 ? [] : [field("Side", sides)]));
    this.judged.hidden = !course.isPlaced;
    this.heat.surface.canvas.parentElement!.hidden = !course.isPlaced;
    const race = this.source;
    this.links.replaceChildren(
      ...(this.text === undefined && race === undefined ? [] : [copyButton("Copy link", () => location.href)]),
      button("Save", () => save(`${recording.player || "game"}.json`, "application/json", jsonOf(recording))),
      ...(chosen === undefined ? [] : [Object.assign(button("Play on from here", () => this.playOn(course, chosen)), { title: "Play this game by hand from this position" })]),
      ...(race === undefined ? [] : [h("a", { href: raceOf(this.app, race) }, "Race the same game")]),
      h("label", { for: "recording", class: "button" }, "Open another"));
    this.root.append(this.file);
    if (recording.origin !== "") {
      this.links.append(h("span", { class: "remark" }, recording.origin));
    }
  }

  /** Offers judges. One that the user has chosen stays. */
  private offer(course: Course, names: readonly string[], usual: string): void {
    this.judgeName = names.find((name) => name === this.judge) ?? usual;
    const choice = select(names.map((name) => [name, name] as const), this.judgeName, (name) => {
      this.judge = this.judgeName = name;
      this.app.changed();
      void this.guarded("The game", () => this.judgeAll(course));
    });
    this.judgeField.replaceChildren(field("Judged by", choice, "Its value of the best placement, less that of the choice"));
  }

  private async judgeAll(course: Course): Promise<void> {
    this.judging.abort();
    const { signal } = (this.judging = new AbortController());
    [this.look, course.verdicts] = [undefined, []];
    this.draw();
    try {
      await course.judge(this.values(course), this.side, signal, () => this.draw());
    } catch (problem) {
      if (!signal.aborted) {
        throw problem;
      }
    }
    if (!signal.aborted) {
      this.draw();
    }
  }

  private values({ rules }: Course): Judge {
    return this.judgeName === OPTIMUM ? EXACT : { policy: this.app.policy(this.judgeName, rules.preview ?? 0) };
  }

  /** Opens this position in the view "Play". */
  private playOn({ recording, moments, players }: Course, chosen: Chosen): void {
    const sides = moments[this.step]!;
    if (sides.some(({ isOver }) => isOver)) {
      this.app.notice(new RangeError("The game is over here: go back a few steps to play on"));
      return;
    }
    this.app.given = sides;
    const { pieces } = recording;
    const seed = pieces.case === "seed" ? pieces.value : drawnSeed();
    location.hash = writeAddress("play", { ...choicesOf(this.app, chosen), seed: String(seed), ...(players === 2 && this.side === 1 && { side: "2" }) });
  }

  private toggle(): void {
    this.running = !this.running && this.course !== undefined;
    this.playButton.textContent = this.running ? "Pause" : "Play";
    if (this.running) {
      void this.run();
    }
  }

  private async run(): Promise<void> {
    const { course } = this;
    if (this.step >= course!.moments.length - 1 && course!.isDone) {
      this.go(0);
    }
    this.running = true;
    while (this.running && this.isShown && course === this.course) {
      await sleep(1000 / Number(this.speed.value));
      const last = course!.moments.length - 1;
      if (!this.running || (this.step >= last && course!.isDone)) {
        break;
      }
      this.show(Math.min(this.step + 1, last));
    }
    if (course === this.course) {
      this.running = false;
      this.playButton.textContent = "Play";
      this.app.changed();
    }
  }

  /** Goes to a step, and stops playing. */
  private go(step: number): void {
    this.running = false;
    this.show(step);
    this.app.changed();
  }

  private show(step: number): void {
    const last = (this.course?.moments.length ?? 1) - 1;
    this.step = Math.max(0, Math.min(step, last));
    this.draw();
  }

  /** Asks for the values of all placements of this step, if it stays for a moment. */
  private ask(course: Course): void {
    clearTimeout(this.looking);
    const { step, side } = this;
    if (!course.isPlaced || course.moments[step]?.[side]?.choice === undefined || (this.look?.step === step && this.look.side === side)) {
      return;
    }
    this.looking = setTimeout(() => void (async () => {
      const { signal } = this.judging;
      try {
        const look = await course.look(this.values(course), side, step, signal);
        if (course === this.course && !signal.aborted && step === this.step && side === this.side) {
          this.look = { step, side, ...look };
          this.draw();
        }
      } catch (problem) {
        if (!signal.aborted) {
          this.app.notice(problem);
        }
      }
    })(), PATIENCE);
  }

  private draw(): void {
    const { course, step } = this;
    const sides = course?.moments[step];
    if (course === undefined || sides === undefined) {
      return;
    }
    this.scrub.value = String(step);
    this.count.textContent = `${grouped(step)} of ${grouped(course.numSteps)}`;
    this.scrub.ariaValueText = `step ${step} of ${course.numSteps}`;
    this.ask(course);
    const look = this.look?.step === step && this.look.side === this.side ? this.look : undefined;
    if (look !== undefined && look.row >= 0) {
      this.warm(course, look);
    }
    sides.forEach((standing, at) => this.drawSide(course, this.shown[at]!, standing, at === this.side ? look : undefined));
    const verdict = course.verdicts[this.side]?.[step];
    this.move.textContent = moveInWords(sides[this.side]!, verdict, this.judgeName, course.isPlaced);
    const verdicts = course.verdicts[this.side] ?? [];
    this.losses.show(verdicts, course.numSteps, step, this.judgeName);
    this.list(verdicts);
  }

  private warm({ rules }: Course, { placements, row }: NonNullable<Replay["look"]>): void {
    const judgement = judgementOf(placements);
    const warm = warmth(judgement);
    const isKnown = (at: number) => Number.isFinite(judgement.values[at]!) || placements.terminated[at] === 1;
    const all = judgement.values.map((_, at) => ({ ...placementOf(placements, at), row: at, warmth: isKnown(at) ? warm[at]! : undefined }));
    this.heat.show(rules.width!, rules.hold === true, all, all[row]!);
    this.heat.compare(judgement.best === row ? undefined : all[judgement.best]);
  }

  private drawSide(course: Course, seat: Seat, standing: Standing, look: Replay["look"]): void {
    const { rules } = course;
    const { field, hand, tally, choice, falling } = standing;
    const [width, height] = [rules.width!, visibleRows(rules)];
    const other = look === undefined ? undefined : this.heat.pointed ?? judgementOf(look.placements).best;
    const hint = look === undefined || other === undefined || other === look.row ? undefined : { kind: placed(hand, look.placements.holds?.[other] === 1), cells: cellsOf(look.placements, other) };
    const words = standing.isOver ? endInWords(tally) : undefined;
    const piece = choice !== undefined ? { kind: choice.kind, cells: lifted(choice.cells, height) } : falling.length > 0 && !standing.isOver ? { kind: hand.current, cells: falling } : undefined;
    seat.board.show({ width, height, cells: field.cells, last: field.last, ghost: choice?.cells, piece, hint, words, isClear: true, garbage: hand.garbage });
    seat.facts.show(tally, undefined, incoming(hand));
    seat.side.show(choosing(hand, choice?.holds === true));
    seat.board.surface.label = `${seat.name.textContent}, playfield ${width} by ${height} after step ${this.step}: ${grouped(tally.lines)} lines, ${grouped(tally.pieces)} pieces, filled up to row ${field.top}${comingInWords(hand)}${endSpoken(words)}`;
  }

  /** Sums up the verdicts, and lists the largest losses. */
  private list(verdicts: readonly (Verdict | undefined)[]): void {
    const known = verdicts.flatMap((verdict, step) => (verdict === undefined ? [] : [{ ...verdict, step }]));
    const best = known.filter(({ rank }) => rank === 1).length;
    const words = known.length === 0 ? "" : `${grouped(best)} of ${grouped(known.length)} choices are the best for ${this.judgeName}.`;
    const worst = known.filter(({ loss }) => loss > 0).sort((one, other) => other.loss - one.loss || one.step - other.step).slice(0, MOST_BLUNDERS);
    const key = `${words} ${worst.map(({ step }) => step).join()}`;
    if (this.sum.dataset["key"] === key) {
      return; // a list that is replaced between press and release loses the click
    }
    this.sum.dataset["key"] = key;
    this.sum.textContent = words;
    this.blunders.replaceChildren(...worst.map(({ step, ...verdict }) => h("li", {}, button(`Piece ${grouped(step + 1)}: ${verdictInWords(verdict, this.judgeName)}`, () => this.go(step), "quiet"))));
  }

  /** Does some work, and says in words what was wrong with a file or a link. */
  private async guarded(what: string, work: () => Promise<void>): Promise<void> {
    const mine = ++this.works;
    try {
      await work();
      if (mine === this.works) {
        this.app.notice(undefined);
      }
    } catch (problem) {
      if (this.stop.signal.aborted && !(problem instanceof RangeError)) {
        return;
      }
      if (this.course === undefined) {
        this.shownGame.hidden = true;
        this.empty.hidden = false;
      }
      const words = problem instanceof RangeError || !isGone(problem) ? inWords(problem) : "the session ended: open it again";
      this.app.notice(new Error(`${what} cannot be replayed: ${words}`));
    }
  }
}

/** Address of a race of the player of a game on the same pieces. */
function raceOf(app: App, { chosen, seed, player }: Source): string {
  return writeAddress("race", { ...choicesOf(app, chosen), seed: String(seed), ...playerOf(player, "a", "_a") });
}

/** The next move of a side in words. */
function moveInWords({ choice, hand, isOver }: Standing, verdict: Verdict | undefined, judge: string, isPlaced: boolean): string {
  if (choice === undefined) {
    return isOver ? "The game is over." : isPlaced ? "The record ends here." : "A game of keys: its steps have no placements to compare.";
  }
  return `${pieceInWords(choice, LETTERS[hand.current] ?? "")}${verdict === undefined ? "" : `. For ${judge}: ${verdictInWords(verdict, judge)}`}.`;
}

function pieceInWords({ kind, cells, holds }: Choice, current: string): string {
  const columns = cells.map(([, column]) => column + 1);
  return `${holds ? `Holds ${current} for ${LETTERS[kind]}` : LETTERS[kind]}, columns ${Math.min(...columns)} to ${Math.max(...columns)}`;
}

function verdictInWords({ rank, among, loss }: Verdict, judge: string): string {
  return rank === 1 ? `the best of ${among}` : Number.isNaN(rank) ? `none of the ${among} that it considers` : `number ${rank} of ${among}, loses ${short(loss)}${judge === OPTIMUM ? " lines" : ""}`;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at);
}
