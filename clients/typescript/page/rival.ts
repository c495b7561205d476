// The opponent of a person: a controller that gets the same pieces and lands one per piece of the person.
//
// It plays in a separate session, so that the person never waits for it. It keeps snapshots to go back with the person's undo.

import type { Placements, Session } from "../src/index.js";
import { AutoresetMode, type Rules } from "../src/protocol.js";
import { type App, isGone } from "./app.js";
import { Board, Row } from "./board.js";
import { Turns, grouped, h } from "./dom.js";
import { Facts } from "./facts.js";
import { Field } from "./field.js";
import { type Hand, handOf, incoming, placed } from "./pieces.js";
import { ABOVE, type Chosen, configOf, visibleRows } from "./rules.js";
import { type Tally, landed, tallyOf } from "./tally.js";
import { type Cell, DRAWINGS, LETTERS } from "./tetromino.js";
import { cellsOf, judgementOf, wayOf } from "./weighing.js";

/** Maximum number of stored positions. */
const MEMORY = 1000;

/** The opponent and its game. */
export interface Match {
  readonly controller: string;
  readonly chosen: Chosen;
  readonly seed: bigint;
  readonly isKeypress: boolean;
}

/** The game after a piece. */
interface Moment {
  readonly state: Uint8Array;
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
  private match: Match | undefined;
  private session: Session | undefined;
  private past: Moment[] = [];
  /** Number of pieces that the person has landed. */
  private goal = 0;
  private readonly turns = new Turns();

  constructor(private readonly app: App) {}

  /** Starts a game; without a match, hides the opponent. */
  begin(match: Match | undefined): void {
    this.match = match;
    this.goal = 0;
    this.root.hidden = match === undefined;
    void this.guarded(async () => {
      this.app.end(this.session);
      [this.session, this.past] = [undefined, []];
      if (match !== undefined) {
        await this.catchUp(match);
      }
    });
  }

  /** Follows the person to this number of pieces, forward or back. */
  follow(pieces: number): void {
    const { match } = this;
    this.goal = pieces;
    if (match !== undefined) {
      void this.guarded(() => this.catchUp(match));
    }
  }

  private async start({ controller, chosen, seed }: Match): Promise<void> {
    const way = wayOf(this.app.expectation(controller), chosen.preview);
    this.title.textContent = controller;
    [this.way.textContent, this.way.title] = [way.words, way.more];
    this.session = await this.open(chosen, [seed]);
    const first = await this.session.reset();
    const { rules } = this;
    this.held.surface.canvas.hidden = rules.hold !== true;
    await this.remember({ field: new Field(chosen.width, rules.height ?? chosen.height), hand: handOf(first.observations, rules), tally: tallyOf(first.infos), isOver: false });
  }

  private open(chosen: Chosen, envSeeds: bigint[] = []): Promise<Session> {
    return this.app.session("Opponent", { ...configOf(this.app, chosen), autoresetMode: AutoresetMode.DISABLED, envSeeds });
  }

  /** Rules of the session, with every field. */
  private get rules(): Rules {
    return this.session!.description.config!.rules!;
  }

  private get now(): Moment {
    return this.past.at(-1)!;
  }

  /** Number of landed pieces. */
  private count({ tally }: Moment): number {
    return tally.pieces;
  }

  /** Lands pieces or goes back until it has as many as the person. */
  private async catchUp(match: Match): Promise<void> {
    if (match === this.match && this.past.length === 0) {
      await this.start(match);
    }
    while (match === this.match && !this.now.isOver && this.count(this.now) < this.goal) {
      await this.land(match);
    }
    if (match === this.match && this.count(this.now) > this.goal) {
      const kept = this.past.filter((moment) => this.count(moment) <= this.goal);
      const then = kept.at(-1) ?? this.past[0]!;
      await this.alive((session) => session.restoreState({ snapshots: [then.state] }));
      this.past = this.past.slice(0, this.past.indexOf(then) + 1);
      this.draw();
    }
  }

  /** Lands a piece. */
  private async land({ isKeypress }: Match): Promise<void> {
    const { field, hand, tally } = this.now;
    let placements = await this.look();
    const { rules } = this;
    const { best } = judgementOf(placements);
    const [wanted, cells] = [placements.placements[best]!, cellsOf(placements, best)];
    const kind = placed(hand, placements.holds?.[best] === 1);
    let row = best;
    let step = await this.alive((session) => session.step([placements.actions[row]!]));
    // After each key the way to the placement is computed again.
    while (step.infos.pieces![0] === tally.pieces && step.terminated[0] === 0) {
      placements = await this.alive((session) => session.enumeratePlacements({ includeCells: true }));
      row = Math.max(0, placements.placements.indexOf(wanted));
      step = await this.alive((session) => session.step([placements.actions[row]!]));
    }
    const after = { field: field.copy(), hand: handOf(step.observations, rules), isOver: step.terminated[0] === 1 || step.truncated[0] === 1 };
    const board = step.observations.board!;
    const there = isKeypress ? after.field.landing(kind, cells, board) : cells;
    if (there !== undefined) {
      after.field.land(kind, there, placements.terminated[row] === 0 || placements.lines[row]! > 0);
    }
    after.field.agree(board);
    await this.remember({ ...after, tally: landed(tally, step.infos, kind, after.field.top === 0) });
  }

  /** Lists the placements of the current piece, with the choice of the opponent. */
  private look(): Promise<Placements> {
    const { controller, chosen } = this.match!;
    return this.alive((session) => session.enumeratePlacements({ policy: this.app.policy(controller, chosen.preview), includeCells: true }));
  }

  private async remember(moment: Omit<Moment, "state">): Promise<void> {
    const [state] = await this.session!.saveState();
    this.past.push({ ...moment, state: state! });
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
    const lines = grouped(tally.lines);
    const words = isOver ? `Topped out\n${lines} lines` : undefined;
    this.board.show({ width, height, cells: field.cells, last: field.last, piece: isOver ? undefined : { kind: current, cells }, words, garbage });
    const holds = held >= 0 ? `, ${LETTERS[held]} held` : "";
    this.board.surface.label = `Playfield of ${this.title.textContent}, ${width} by ${height}: ${lines} lines, ${grouped(tally.pieces)} pieces, filled up to row ${field.top}${holds}`;
  }

  /** Makes a call on the session. If the session has expired, continues from the last position in a new one. */
  private async alive<T>(call: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await call(this.session!);
    } catch (problem) {
      if (!isGone(problem)) {
        throw problem;
      }
      this.session = await this.open(this.match!.chosen);
      await this.session.restoreState({ snapshots: [this.now.state] });
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
