// The view "Replay": a recorded game, from a file, a link, or a game of an evaluation. It is played again by the server, compared with
// the record, and judged by a player: what each choice gives away against that player's best placement.

import type { Placements } from "../src/index.js";
import { EpisodeEnd, type Recording } from "../src/protocol.js";
import { type Choices, type Reader, seedOf, writeAddress } from "./address.js";
import { type App, type View, inWords } from "./app.js";
import { Board, Side } from "./board.js";
import { type Choice, Course, EXACT, type Judge, MOST_STEPS, type Standing, type Verdict, endName, range } from "./course.js";
import { arrow, button, drawnSeed, field, grouped, h, save, select, short, sleep } from "./dom.js";
import { Facts } from "./facts.js";
import { handBack, usesKey } from "./focus.js";
import { Heat } from "./heat.js";
import { Losses } from "./losses.js";
import { choosing, comingInWords, incoming, placed } from "./pieces.js";
import { checkRecording, jsonOf, recordingIn, recordingOf, textOf } from "./recording.js";
import { ABOVE, type Chosen, choicesOf, chosenFrom, chosenOf, readChosen, rulesOf, tetrominoPresets, visibleRows } from "./rules.js";
import { capital, endInWords, endSpoken } from "./tally.js";
import { LETTERS, lifted } from "./tetromino.js";
import { type Player, cellsOf, judgementOf, playerOf, policyOfWeights, warmPlacements } from "./weighing.js";

/** Steps per second while it plays. */
const SPEEDS = ["1", "4", "10", "30"];
/** Milliseconds that a step stays until its placements are asked for. */
const PATIENCE = 120;
/** Milliseconds that a step stays until the address has it. Browsers limit how often it changes. */
const REST = 250;
/** Number of listed blunders. */
const MOST_BLUNDERS = 6;

/** The player by exact values, on playfields that have them: its losses are lines, the regret of a choice. */
const OPTIMUM = "optimal";

/** A game of an evaluation, which the server plays again. */
interface Source {
  readonly chosen: Chosen;
  readonly seed: bigint;
  readonly player: Player;
}

/** The placements of a position that is on the screen, and the row that the record chose. */
interface Looked {
  /** Step, side and judge. */
  readonly key: string;
  readonly placements: Placements;
  readonly row: number;
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
  private readonly file = h("input", { type: "file", id: "recording", accept: ".json,.tetrion", hidden: true, onchange: () => this.takeFile(this.file.files?.[0]) });
  private readonly empty = h("section", { class: "card empty drop" },
    h("h2", {}, "Open a recorded game"),
    h("p", {}, "Drop a file here, or ", button("choose one", () => this.file.click()), ". The server plays it again, move by move, and says whether it is as recorded."),
    h("p", { class: "remark" }, "Recordings come from ", h("code", {}, "tetrion evaluate --record best --record-dir games"), ", from ", h("code", {}, "tetrion play --record"), ", and from Python. A bar in Evaluate opens one too."));
  private readonly proof = h("p", { class: "proof", role: "status" });
  private readonly seats = h("div", { class: "seats" });
  private readonly scrub = h("input", { type: "range", min: "0", max: "0", value: "0", step: "1", oninput: () => this.go(Number(this.scrub.value)) });
  private readonly count = h("output", {}, "");
  private readonly progress = h("progress", { "aria-label": "Steps played again" });
  private readonly playButton = button("Play", () => this.toggle(), "primary");
  private readonly speed: HTMLSelectElement;
  private readonly judgeField = h("div");
  private readonly sideField = h("div");
  private readonly losses = new Losses((step) => this.go(step));
  private readonly sum = h("p", { class: "remark" });
  private readonly blunders = h("ol", { class: "blunders" });
  private readonly heat = new Heat(() => this.draw());
  private readonly move = h("p", {});
  private readonly judged: HTMLElement;
  private readonly game: HTMLElement;
  private readonly links = h("div", { class: "fields" });
  private course: Course | undefined;
  /** Text of the game for the address; undefined if it is too long, or if `source` has it. */
  private text: string | undefined;
  private source: Source | undefined;
  /** The judge that the user has chosen; undefined before a choice. */
  private chosenJudge: string | undefined;
  /** Name of the player that judges. */
  private judge = "";
  private offered = "";
  private side = 0;
  private step = 0;
  /** The step of the address, until it has been played. */
  private wanted: number | undefined;
  /** Number of the loop that plays; 0 while none does. */
  private loop = 0;
  private loops = 0;
  private isShown = false;
  private looked: Looked | undefined;
  /** The position that was asked for last. */
  private asked = "";
  private asking: ReturnType<typeof setTimeout> | undefined;
  private resting: ReturnType<typeof setTimeout> | undefined;
  /** Ends the current work: opening a game, or judging it. */
  private stop = new AbortController();
  private shown: Seat[] = [];

  constructor(private readonly app: App, address: Reader) {
    this.chosenJudge = address.oneOf("judge", [...app.controllers(10).map(({ name }) => name), OPTIMUM]);
    this.wanted = address.parsed("step", (text) => Number(seedOf(text)));
    this.speed = select(SPEEDS.map((speed) => [speed, `${speed} a second`] as const), "4", () => undefined);
    const controls = h("div", { class: "row controls-of-time" },
      arrow("|◂", "To the start", () => this.go(0)), arrow("◂", "Back", () => this.go(this.step - 1)), this.playButton, arrow("▸", "Step", () => this.go(this.step + 1)), arrow("▸|", "To the end", () => this.go(Infinity)),
      field("Speed", this.speed), this.count);
    this.scrub.ariaLabel = "Step";
    this.judged = h("section", { class: "card" }, h("h2", {}, "What each choice gives away"), h("div", { class: "fields judges" }, this.judgeField, this.sideField), this.losses.surface.canvas, this.sum, this.blunders);
    const legend = h("div", { class: "legend", "aria-hidden": "true" }, h("span", {}, "worse"), h("i", {}), h("span", {}, "better"));
    this.game = h("div", { class: "columns even", hidden: true },
      h("section", { class: "card watched" }, this.proof, this.progress, this.seats, this.scrub, controls, this.links),
      h("div", {}, h("section", { class: "card this-move" }, h("h2", {}, "This move"), this.move, this.heat.surface.canvas, legend), this.judged));
    this.root.append(h("h1", { class: "only-read" }, "Replay of a recorded game"), this.file, this.empty, this.game);
    for (const kind of ["dragover", "drop"] as const) {
      this.root.addEventListener(kind, (event) => {
        event.preventDefault();
        if (kind === "drop") {
          this.takeFile(event.dataTransfer?.files[0]);
        }
      });
    }
    handBack(this.root);
    this.openAddress(address);
  }

  enter(): void {
    this.isShown = true;
    document.addEventListener("keydown", this.keys);
  }

  leave(): void {
    this.isShown = false;
    this.halt();
    document.removeEventListener("keydown", this.keys);
    this.app.notice(undefined);
  }

  close(): void {
    this.stop.abort();
    clearTimeout(this.asking);
    clearTimeout(this.resting);
  }

  choices(): Choices {
    const { source, text, chosenJudge, step, wanted } = this;
    const game = source !== undefined ? { ...choicesOf(this.app, source.chosen), seed: String(source.seed), ...playerOf(source.player, "player", "") } : text === undefined ? {} : { game: text };
    const at = wanted ?? step;
    return { ...game, ...(Object.keys(game).length > 0 && at > 0 && { step: String(at) }), ...(chosenJudge !== undefined && { judge: chosenJudge }) };
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
  private openAddress(address: Reader): void {
    const [game, player, formula] = [address.text("game"), address.text("player"), address.text("formula")];
    if (game !== undefined) {
      this.text = game;
      this.work("The link cannot be replayed", async (signal) => await this.open(await recordingIn(game), signal));
      return;
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
      const source = (this.source = { chosen, seed: seed ?? drawnSeed(), player: { name: known, formula, weights } });
      this.work("The game cannot be replayed", async (signal) => await this.open(await this.played(source, signal), signal));
    }
  }

  /** The recording of a game of an evaluation: the server plays it, and sends the actions. */
  private async played({ chosen, seed, player: { name, formula, weights } }: Source, signal: AbortSignal): Promise<Recording> {
    this.say("waits", "The server plays the game …");
    const edited = async (weights: readonly number[]) => policyOfWeights({ ...(await this.app.weighing(name, chosen.width)), weights: [...weights] }, chosen.preview);
    const policy = formula !== undefined ? { formula } : weights !== undefined ? await edited(weights) : this.app.policy(name, chosen.preview);
    const evaluation = { rules: rulesOf(this.app, chosen), policies: [policy], seeds: [seed], maxPieces: BigInt(MOST_STEPS), includeRecordings: true, signal };
    for await (const event of this.app.client.evaluate(evaluation)) {
      if (event.case === "recording") {
        return event.value.recording!;
      }
    }
    throw new RangeError("the server sent no recording");
  }

  /** Opens a file of the user. */
  private takeFile(file: File | undefined): void {
    this.file.value = ""; // the same file can be chosen again
    if (file === undefined) {
      return;
    }
    this.work(`${file.name} cannot be replayed`, async (signal) => {
      const recording = recordingOf(new Uint8Array(await file.arrayBuffer()));
      checkRecording(recording, this.app.info.rulesVersion);
      const text = await textOf(recording);
      signal.throwIfAborted();
      [this.wanted, this.source, this.text] = [undefined, undefined, text];
      await this.open(recording, signal);
    });
  }

  /** Plays a recording again, from its beginning, and judges it. */
  private async open(recording: Recording, signal: AbortSignal): Promise<void> {
    checkRecording(recording, this.app.info.rulesVersion);
    signal.throwIfAborted();
    this.halt();
    this.course = undefined;
    const course = await Course.begin(this.app, recording);
    if (signal.aborted) {
      await course.play(signal, () => undefined); // which ends its session
    }
    [this.course, this.step, this.side, this.looked] = [course, 0, 0, undefined];
    this.arrange(course);
    this.sumUp(course);
    this.say("waits", "The server plays it again …");
    this.app.changed();
    await course.play(signal, () => this.progressed(course));
    signal.throwIfAborted();
    if (await course.hasExactValues(signal)) {
      this.offer([OPTIMUM, ...this.namesOf(course)], OPTIMUM);
    }
    await this.judgeAll(course, signal);
  }

  /** Shows the progress of the replay. */
  private progressed(course: Course): void {
    const last = course.moments.length - 1;
    this.scrub.max = String(course.isDone ? last : course.numSteps);
    [this.progress.max, this.progress.value] = [course.numSteps, last];
    if (this.wanted !== undefined && (this.wanted <= last || course.isDone)) {
      const step = this.wanted;
      this.wanted = undefined;
      this.go(step);
    }
    const { actions } = course.recording;
    const steps = course.isPlaced ? "placements" : "keys";
    if (course.difference !== undefined) {
      this.say("differs", `Not as recorded: ${course.difference}`);
    } else if (course.isDone && course.isCut) {
      this.say("same", `As recorded up to step ${grouped(last)} of ${grouped(actions.length)}. tetrion replay checks all of it`);
    } else if (course.isDone) {
      this.say("same", `As recorded: ${grouped(last)} ${steps}, every landing, the totals, and the last playfield`);
    }
    this.draw();
  }

  private say(proof: "waits" | "same" | "differs", words: string): void {
    [this.empty.hidden, this.game.hidden, this.progress.hidden, this.proof.dataset["proof"]] = [true, false, proof !== "waits", proof];
    // Screen readers read it again with every change.
    if (this.proof.textContent !== words) {
      this.proof.textContent = words;
    }
  }

  /** Builds the boards and the choices for a game. */
  private arrange(course: Course): void {
    const { recording, rules } = course;
    this.shown.forEach(({ board, side }) => {
      board.surface.drop();
      side.drop();
    });
    this.shown = range(0, course.players).map((at) => {
      const seat = new Seat(`Playfield ${at + 1}`);
      seat.side.begin(rules);
      const player = (at === 0 ? recording.player : recording.opponent!.player) || (this.source && (this.source.player.name || "a formula"));
      seat.name.textContent = player || (course.players === 1 ? "A recorded game" : `Side ${at + 1}`);
      return seat;
    });
    this.seats.replaceChildren(...this.shown.map(({ element }) => element));
    this.seats.style.setProperty("--ratio", String(rules.width! / (visibleRows(rules) + ABOVE)));
    this.seats.style.setProperty("--seats", String(course.players));
    this.seats.style.setProperty("--next", String(Math.max(1, Math.min(5, rules.preview ?? 0))));
    const chosen = chosenFrom(this.app, rules);
    const names = this.namesOf(course);
    this.offer(names, (chosen && this.app.strongest(chosen)) ?? names[0]!);
    const sides = select(range(0, course.players).map((at) => [String(at), this.shown[at]!.name.textContent!] as const), "0", (at) => {
      this.side = Number(at);
      this.judgeAnew();
    });
    this.sideField.replaceChildren(...(course.players === 1 ? [] : [field("Side", sides)]));
    this.judged.hidden = !course.isPlaced;
    this.heat.surface.canvas.parentElement!.hidden = !course.isPlaced;
    const { source } = this;
    this.links.replaceChildren(
      button("Save", () => save(`${recording.player || "game"}.json`, "application/json", jsonOf(recording))),
      ...(chosen === undefined ? [] : [Object.assign(button("Play on from here", () => this.playOn(course, chosen)), { title: "Play this game by hand from this position" })]),
      ...(source === undefined ? [] : [h("a", { href: raceOf(this.app, source) }, "Race the same game")]),
      button("Open another", () => this.file.click()),
      ...(recording.origin === "" ? [] : [h("span", { class: "remark" }, recording.origin)]));
  }

  private namesOf({ rules }: Course): string[] {
    return this.app.controllers(rules.width!).map(({ name }) => name);
  }

  /** Offers judges. One that the user has chosen stays, and an unchanged list keeps the keyboard focus. */
  private offer(names: readonly string[], usual: string): void {
    const judge = names.find((name) => name === this.chosenJudge) ?? usual;
    const offered = [judge, ...names].join();
    if (offered === this.offered) {
      return;
    }
    [this.judge, this.offered] = [judge, offered];
    const choice = select(names.map((name) => [name, name] as const), judge, (name) => {
      [this.chosenJudge, this.judge, this.offered] = [name, name, [name, ...names].join()];
      this.app.changed();
      this.judgeAnew();
    });
    this.judgeField.replaceChildren(field("Judged by", choice, "Its value of the best placement, less that of the choice"));
  }

  /** Judges the game by another player, or another side. A game that is still being played is judged afterwards. */
  private judgeAnew(): void {
    const { course } = this;
    if (course?.isDone === true) {
      this.work(`${this.judge} cannot judge this game`, async (signal) => await this.judgeAll(course, signal));
    }
    this.draw();
  }

  private async judgeAll(course: Course, signal: AbortSignal): Promise<void> {
    [this.looked, this.asked, course.verdicts] = [undefined, "", []];
    const judged = () => {
      this.sumUp(course);
      this.draw();
    };
    judged();
    await course.judge(this.values(course), this.side, signal, judged);
  }

  private values({ rules }: Course): Judge {
    return this.judge === OPTIMUM ? EXACT : { policy: this.app.policy(this.judge, rules.preview ?? 0) };
  }

  /** Opens this position in the view "Play". */
  private playOn({ recording, moments, players }: Course, chosen: Chosen): void {
    const sides = moments[this.step]!;
    if (sides.some(({ end }) => end !== EpisodeEnd.NOT_ENDED)) {
      this.app.notice(new RangeError("The game is over here: go back a few steps to play on"));
      return;
    }
    this.app.given = sides;
    const { pieces } = recording;
    const seed = pieces.case === "seed" ? pieces.value : drawnSeed();
    location.hash = writeAddress("play", { ...choicesOf(this.app, chosen), seed: String(seed), ...(players === 2 && this.side === 1 && { side: "2" }) });
  }

  private toggle(): void {
    if (this.loop !== 0) {
      this.halt();
    } else if (this.course !== undefined) {
      void this.run(this.course);
    }
  }

  /** Stops playing. */
  private halt(): void {
    this.loop = 0;
    this.playButton.textContent = "Play";
  }

  private async run(course: Course): Promise<void> {
    const mine = (this.loop = ++this.loops);
    this.playButton.textContent = "Pause";
    if (this.step >= course.moments.length - 1 && course.isDone) {
      this.show(0);
    }
    while (this.loop === mine && this.isShown) {
      await sleep(1000 / Number(this.speed.value));
      if (this.loop !== mine) {
        return;
      }
      const last = course.moments.length - 1;
      if (this.step >= last && course.isDone) {
        this.halt();
        this.app.changed();
        return;
      }
      this.show(Math.min(this.step + 1, last));
    }
  }

  /** Goes to a step, and stops playing. */
  private go(step: number): void {
    this.halt();
    this.show(step);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.app.changed(), REST);
  }

  private show(step: number): void {
    const last = (this.course?.moments.length ?? 1) - 1;
    this.step = Math.max(0, Math.min(step, last));
    this.draw();
  }

  /** Asks for the values of all placements of this step, if it stays for a moment. */
  private ask(course: Course, key: string): void {
    if (this.asked === key) {
      return;
    }
    this.asked = key;
    clearTimeout(this.asking);
    const { step, side } = this;
    if (!course.isPlaced || course.moments[step]![side]!.choice === undefined) {
      return;
    }
    this.asking = setTimeout(() => void (async () => {
      const { signal } = this.stop;
      try {
        const found = await course.placements(this.values(course), side, step, signal);
        if (course === this.course && this.asked === key) {
          this.looked = { key, ...found };
          this.draw();
        }
      } catch (problem) {
        if (!signal.aborted) {
          this.app.notice(problem);
        } else if (this.asked === key) {
          this.asked = ""; // other work has begun meanwhile
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
    this.count.textContent = `${grouped(step)} of ${grouped(course.isDone ? course.moments.length - 1 : course.numSteps)}`;
    this.scrub.ariaValueText = `step ${this.count.textContent}`;
    const key = `${step} ${this.side} ${this.judge}`;
    this.ask(course, key);
    const looked = this.looked?.key === key && this.looked.row >= 0 ? this.looked : undefined;
    if (looked !== undefined) {
      this.warm(course, looked);
    }
    this.heat.surface.canvas.style.visibility = sides[this.side]!.choice === undefined ? "hidden" : "visible";
    sides.forEach((standing, at) => this.drawSide(course, this.shown[at]!, standing, at === this.side ? looked : undefined));
    this.move.textContent = moveInWords(sides[this.side]!, course.verdicts[this.side]?.[step], this.judge, course.isPlaced);
    this.losses.mark(step);
  }

  private warm({ rules }: Course, { placements, row }: Looked): void {
    const judgement = judgementOf(placements);
    const all = warmPlacements(placements, judgement);
    this.heat.show(rules.width!, rules.hold === true, all, all[row]!);
    this.heat.compare(judgement.best === row ? undefined : all[judgement.best]);
  }

  private drawSide({ rules }: Course, seat: Seat, { field, hand, tally, choice, falling, end }: Standing, looked: Looked | undefined): void {
    const [width, height] = [rules.width!, visibleRows(rules)];
    const other = looked === undefined ? undefined : this.heat.pointed ?? judgementOf(looked.placements).best;
    const hint = looked === undefined || other === undefined || other === looked.row ? undefined : { kind: placed(hand, looked.placements.holds?.[other] === 1), cells: cellsOf(looked.placements, other) };
    const words = end === EpisodeEnd.NOT_ENDED ? undefined : endInWords(tally, capital(endName(end)));
    const piece = choice !== undefined ? { kind: choice.kind, cells: lifted(choice.cells, height) } : falling.length > 0 && words === undefined ? { kind: hand.current, cells: falling } : undefined;
    seat.board.show({ width, height, cells: field.cells, last: field.last, ghost: choice?.cells, piece, hint, words, isClear: true, garbage: hand.garbage });
    seat.facts.show(tally, undefined, incoming(hand));
    seat.side.show(choosing(hand, choice?.holds === true));
    seat.board.surface.label = `${seat.name.textContent}, playfield ${width} by ${height} after step ${this.step}: ${grouped(tally.lines)} lines, ${grouped(tally.pieces)} pieces, filled up to row ${field.top}${comingInWords(hand)}${endSpoken(words)}`;
  }

  /** Shows all verdicts, and lists the largest losses. */
  private sumUp({ moments, numSteps, verdicts: all }: Course): void {
    const verdicts = all[this.side] ?? [];
    this.losses.show(verdicts, numSteps, this.judge);
    const known = verdicts.flatMap((verdict, step) => (verdict === undefined ? [] : [{ ...verdict, step }]));
    const best = known.filter(({ rank }) => rank === 1).length;
    const words = known.length === 0 ? "" : `${grouped(best)} of ${grouped(known.length)} choices are the best for ${this.judge}.`;
    const worst = known.filter(({ loss }) => loss > 0).sort((one, other) => (other.loss === one.loss ? one.step - other.step : other.loss - one.loss)).slice(0, MOST_BLUNDERS);
    const key = `${words} ${worst.map(({ step }) => step).join()}`;
    if (this.sum.dataset["key"] === key) {
      return; // a list that is replaced between press and release loses the click
    }
    this.sum.dataset["key"] = key;
    this.sum.textContent = words;
    const piece = (step: number) => grouped(moments[step]![this.side]!.tally.pieces + 1);
    this.blunders.replaceChildren(...worst.map(({ step, ...verdict }) => h("li", {}, button(`Piece ${piece(step)}: ${verdictInWords(verdict, this.judge)}`, () => this.go(step), "quiet"))));
  }

  /** Ends the current work, and does some other. `failure` begins the sentence about a problem. */
  private work(failure: string, work: (signal: AbortSignal) => Promise<void>): void {
    this.stop.abort();
    const { signal } = (this.stop = new AbortController());
    void (async () => {
      try {
        await work(signal);
        if (!signal.aborted) {
          this.app.notice(undefined);
        }
      } catch (problem) {
        if (signal.aborted) {
          return;
        }
        if (this.course?.isDone !== true) {
          this.course = undefined;
          [this.empty.hidden, this.game.hidden] = [false, true];
        }
        this.app.notice(new Error(`${failure}: ${inWords(problem)}`));
      }
    })();
  }
}

/** Address of a race of the player of a game on the same pieces. */
function raceOf(app: App, { chosen, seed, player }: Source): string {
  return writeAddress("race", { ...choicesOf(app, chosen), seed: String(seed), ...playerOf(player, "a", "_a") });
}

/** The next move of a side in words. */
function moveInWords({ choice, hand, end }: Standing, verdict: Verdict | undefined, judge: string, isPlaced: boolean): string {
  if (choice === undefined) {
    return end !== EpisodeEnd.NOT_ENDED ? "The game is over." : isPlaced ? "The record ends here." : "A game of keys: its steps have no placements to compare.";
  }
  return `${pieceInWords(choice, LETTERS[hand.current] ?? "")}${verdict === undefined ? "" : `. For ${judge}: ${verdictInWords(verdict, judge)}`}.`;
}

function pieceInWords({ kind, cells, holds }: Choice, current: string): string {
  const columns = cells.map(([, column]) => column + 1);
  const [low, high] = [Math.min(...columns), Math.max(...columns)];
  return `${holds ? `Holds ${current} for ${LETTERS[kind]}` : LETTERS[kind]}, ${low === high ? `column ${low}` : `columns ${low} to ${high}`}`;
}

function verdictInWords({ rank, among, loss }: Verdict, judge: string): string {
  return rank === 1 ? `the best of ${among}` : Number.isNaN(rank) ? `none of the ${among} that it considers` : `number ${rank} of ${among}, loses ${short(loss)}${judge === OPTIMUM ? " lines" : ""}`;
}

