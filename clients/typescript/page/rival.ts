// The opponent of a person: a controller that gets the same pieces and lands one per piece of the person.
//
// In a match it plays in the person's session, and a step lands a piece of each. Otherwise it plays in a separate session, so that
// the person never waits for it, and keeps snapshots to go back with the person's undo.

import type { FirstStep, Session, Step } from "../src/index.js";
import { AutoresetMode, type Rules } from "../src/protocol.js";
import { type App, isGone } from "./app.js";
import { Board, Row } from "./board.js";
import { Turns, grouped, h } from "./dom.js";
import { Facts } from "./facts.js";
import { Field } from "./field.js";
import { land } from "./landing.js";
import { type Hand, boardOf, comingInWords, handOf, incoming, placed } from "./pieces.js";
import { ABOVE, type Chosen, configOf, visibleRows } from "./rules.js";
import { type Tally, endInWords, endSpoken, landed, tallyOf } from "./tally.js";
import { type Cell, DRAWINGS, LETTERS } from "./tetromino.js";
import { cellsOf, clearsRows, judgementOf, wayOf } from "./weighing.js";

/** Maximum number of stored positions. */
const MEMORY = 1000;

/** A match in the person's session. */
interface Shared {
  readonly rules: Rules;
  /** The first answer of the session. */
  readonly first: FirstStep;
  /** The opponent's environment. */
  readonly env: number;
  /** Makes a call on the session. */
  alive<T>(call: (session: Session) => Promise<T>): Promise<T>;
}

/** The opponent and its game. */
export interface Contest {
  readonly controller: string;
  readonly chosen: Chosen;
  readonly seed: bigint;
  readonly isKeypress: boolean;
  /** The person's session in a match, else undefined. */
  readonly shared: Shared | undefined;
}

/** The opponent's choice for its current piece. */
export interface Choice {
  readonly action: number;
  readonly placement: number;
  readonly kind: number;
  readonly cells: readonly Cell[];
  /** Whether full rows clear: not if the placement loses the game without a line. */
  readonly clears: boolean;
}

/** The game after a piece. */
interface Moment {
  /** Undefined in a match, whose snapshots the person keeps. */
  readonly state: Uint8Array | undefined;
  readonly field: Field;
  readonly hand: Hand;
  readonly tally: Tally;
  readonly isOver: boolean;
}

/** An opponent. */
export class Rival {
  private readonly board = new Board(ABOVE, "Playfield of the opponent");
  private readonly title = h("h2", {}, "");
  private readonly way = h("span", { class: "way" });
  private readonly numbers = new Facts();
  private readonly held = new Row("The opponent holds", "The opponent holds nothing", "held");
  readonly root = h("section", { class: "rival", hidden: true, "aria-label": "Opponent" },
    this.board.surface.canvas,
    h("div", { class: "rival-facts" }, this.title, this.way, this.numbers.element, this.held.surface.canvas));
  private contest: Contest | undefined;
  private session: Session | undefined;
  private past: Moment[] = [];
  /** Number of pieces that the person has landed. */
  private goal = 0;
  private readonly turns = new Turns();

  constructor(private readonly app: App) {}

  /** Starts a game; without a contest, hides the opponent. */
  begin(contest: Contest | undefined): void {
    this.contest = contest;
    this.goal = 0;
    this.root.hidden = contest === undefined;
    void this.guarded(async () => {
      this.app.end(this.session);
      [this.session, this.past] = [undefined, []];
      if (contest !== undefined) {
        await this.catchUp(contest);
      }
    });
  }

  /** Follows the person to this number of pieces, forward or back; in a match only back. */
  follow(pieces: number): void {
    const { contest } = this;
    this.goal = pieces;
    if (contest !== undefined) {
      void this.guarded(() => this.catchUp(contest));
    }
  }

  /** In a match: chooses a placement of the current piece. */
  choose(): Promise<Choice> {
    return this.turns.take(() => this.choice());
  }

  private async start({ controller, chosen, seed, shared }: Contest): Promise<void> {
    const way = wayOf(this.app.expectation(controller), chosen.preview);
    this.title.textContent = controller;
    [this.way.textContent, this.way.title] = [way.words, way.more];
    this.session = shared === undefined ? await this.open(chosen, [seed]) : undefined;
    const { observations, infos } = shared?.first ?? (await this.session!.reset());
    const { rules, env } = this;
    this.held.surface.canvas.hidden = rules.hold !== true;
    const field = new Field(chosen.width, rules.height ?? chosen.height);
    field.agree(boardOf(observations, rules, env));
    await this.remember({ field, hand: handOf(observations, rules, env), tally: tallyOf(infos, env), isOver: false });
  }

  private open(chosen: Chosen, envSeeds: bigint[] = []): Promise<Session> {
    return this.app.session("Opponent", { ...configOf(this.app, chosen), autoresetMode: AutoresetMode.DISABLED, envSeeds });
  }

  /** Rules of the session, with every field. */
  private get rules(): Rules {
    return this.contest?.shared?.rules ?? this.session!.rules;
  }

  private get env(): number {
    return this.contest?.shared?.env ?? 0;
  }

  private get now(): Moment {
    return this.past.at(-1)!;
  }

  /** Number of landed pieces. */
  private count({ tally }: Moment): number {
    return tally.pieces;
  }

  /** Lands pieces or goes back until it has as many as the person. */
  private async catchUp(contest: Contest): Promise<void> {
    if (contest === this.contest && this.past.length === 0) {
      await this.start(contest);
    }
    while (contest === this.contest && contest.shared === undefined && !this.now.isOver && this.count(this.now) < this.goal) {
      await this.land();
    }
    if (contest === this.contest && this.count(this.now) > this.goal) {
      const kept = this.past.filter((moment) => this.count(moment) <= this.goal);
      const then = kept.at(-1) ?? this.past[0]!;
      const { state } = then;
      if (state !== undefined) {
        await this.alive((session) => session.restoreState({ snapshots: [state] }));
      }
      this.past = this.past.slice(0, this.past.indexOf(then) + 1);
      this.draw();
    }
  }

  /** Lands a piece. */
  private async land(): Promise<void> {
    const choice = await this.choice();
    const { landings } = await land((call) => this.alive(call), [{ ...choice, env: this.env, pieces: this.now.tally.pieces }]);
    const { step, clears } = landings[0]!;
    await this.take(step, { ...choice, clears });
  }

  private async choice(): Promise<Choice> {
    const { controller, chosen } = this.contest!;
    const placements = await this.alive((session) => session.enumeratePlacements({ policy: this.app.policy(controller, chosen.preview), includeCells: true, envIds: [this.env] }));
    const { best: row } = judgementOf(placements);
    return {
      action: placements.actions[row]!,
      placement: placements.placements[row]!,
      kind: placed(this.now.hand, placements.holds?.[row] === 1),
      cells: cellsOf(placements, row),
      clears: clearsRows(placements, row),
    };
  }

  /** Takes the answer to the step that landed the chosen piece. Returns the landing in words. */
  async take({ observations, infos, terminated, truncated }: Step, { kind, cells, clears }: Choice): Promise<string> {
    const { rules, env, now } = this;
    const field = now.field.copy();
    const board = boardOf(observations, rules, env);
    const there = this.contest!.isKeypress ? field.landing(kind, cells, board) : cells;
    if (there !== undefined) {
      field.land(kind, there, clears);
    }
    field.agree(board);
    const { tally, deed } = landed(now.tally, infos, kind, field.top === 0, env);
    await this.remember({ field, hand: handOf(observations, rules, env), tally, isOver: terminated[env] === 1 || truncated[env] === 1 });
    return deed;
  }

  private async remember(moment: Omit<Moment, "state">): Promise<void> {
    const [state] = (await this.session?.saveState()) ?? [];
    this.past.push({ ...moment, state });
    this.past.splice(0, this.past.length - MEMORY);
    this.draw();
  }

  private draw(): void {
    const { field, hand, tally, isOver } = this.now;
    const { current, held, garbage } = hand;
    const [{ width }, height] = [field, visibleRows(this.rules)];
    this.numbers.show(tally, undefined, incoming(hand));
    this.held.show([held]);
    const left = (width - 3) >> 1;
    const cells = (DRAWINGS[current] ?? []).map(([row, column]): Cell => [height + row, left + column]);
    const words = isOver ? endInWords(tally) : undefined;
    this.board.show({ width, height, cells: field.cells, last: field.last, piece: isOver ? undefined : { kind: current, cells }, words, garbage });
    const holds = held >= 0 ? `, ${LETTERS[held]} held` : "";
    this.board.surface.label = `Playfield of ${this.title.textContent}, ${width} by ${height}: ${grouped(tally.lines)} lines, ${grouped(tally.pieces)} pieces, filled up to row ${field.top}${holds}${comingInWords(hand)}${endSpoken(words)}`;
  }

  /** Makes a call on the session. If the session has expired, continues from the last position in a new one. */
  private async alive<T>(call: (session: Session) => Promise<T>): Promise<T> {
    const { shared, chosen } = this.contest!;
    if (shared !== undefined) {
      return await shared.alive(call);
    }
    try {
      return await call(this.session!);
    } catch (problem) {
      if (!isGone(problem)) {
        throw problem;
      }
      this.session = await this.open(chosen);
      await this.session.restoreState({ snapshots: [this.now.state!] });
      return await call(this.session);
    }
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await this.turns.take(work);
    } catch (problem) {
      this.app.notice(problem);
    }
  }
}
