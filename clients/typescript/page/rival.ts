// An opponent of a person who plays: a controller that gets the same pieces, and lands one for each of the person's.
//
// It has a session of its own, so that a person never waits for it. It goes back when the person does, to snapshots that it keeps.

import type { FirstStep, Placements, Session } from "../src/index.js";
import { AutoresetMode, Randomizer } from "../src/protocol.js";
import { type App, type Weighing, isGone } from "./app.js";
import { Board } from "./board.js";
import { Turns, grouped, h } from "./dom.js";
import { Field } from "./field.js";
import { Dealt, wayOf, weigh } from "./outlook.js";
import type { Chosen } from "./rules_form.js";
import { type Cell, DRAWINGS } from "./tetromino.js";
import { cellsOf } from "./weighing.js";

/** Rows above the playfield. */
const ABOVE = 4;
/** Positions that it can go back to. */
const MEMORY = 1000;

/** What is played, and by whom. */
export interface Match {
  readonly controller: string;
  readonly chosen: Chosen;
  readonly seed: bigint;
  readonly isKeypress: boolean;
}

/** The game after so many pieces. */
interface Moment {
  readonly state: Uint8Array;
  readonly field: Field;
  readonly dealt: Dealt;
  readonly kind: number;
  readonly pieces: number;
  readonly lines: bigint;
  readonly isOver: boolean;
}

/** An opponent. */
export class Rival {
  private readonly board = new Board(ABOVE, "Playfield of the opponent");
  private readonly title = h("h2", {}, "");
  private readonly way = h("span", { class: "way" });
  private readonly lines = h("output", { class: "big" }, "0");
  private readonly pieces = h("output", {}, "0");
  /** The playfield. */
  readonly root = h("section", { class: "rival", hidden: true, "aria-label": "Opponent" }, this.board.surface.canvas);
  /** How the opponent stands. */
  readonly facts = h("div", { class: "rival-facts", hidden: true },
    h("div", { class: "row" }, this.title, this.way),
    h("div", { class: "facts" }, h("div", { class: "fact" }, this.lines, h("span", {}, "lines")), h("div", { class: "fact" }, this.pieces, h("span", {}, "pieces"))));
  private match: Match | undefined;
  private weighing: Weighing | undefined;
  private session: Session | undefined;
  private past: Moment[] = [];
  /** How many pieces the person has landed. */
  private goal = 0;
  private readonly turns = new Turns();

  constructor(private readonly app: App) {}

  /** Begins a game; without one, it goes. */
  begin(match: Match | undefined): void {
    this.match = match;
    this.goal = 0;
    this.root.hidden = this.facts.hidden = match === undefined;
    void this.guarded(async () => {
      void this.session?.delete().catch(() => undefined);
      [this.session, this.past] = [undefined, []];
      if (match !== undefined) {
        await this.catchUp(match);
      }
    });
  }

  /** The person has landed so many pieces, or has gone back to so many. */
  follow(pieces: number): void {
    const { match } = this;
    this.goal = pieces;
    if (match !== undefined) {
      void this.guarded(() => this.catchUp(match));
    }
  }

  private async start({ controller, chosen, seed }: Match): Promise<void> {
    this.weighing = await this.app.weighing(controller, chosen.width);
    const way = wayOf(this.weighing.expectation, chosen.preview);
    this.title.textContent = controller;
    [this.way.textContent, this.way.title] = [way.words, way.more];
    this.session = await this.open(chosen, [seed]);
    const first = await this.session.reset();
    const dealt = new Dealt(this.session.description.config?.rules?.randomizer ?? Randomizer.UNIFORM);
    dealt.begin(first.observations.current![0]!, [...(first.observations.queue ?? [])]);
    await this.remember(first, { field: new Field(chosen.width, chosen.height), dealt, isOver: false });
  }

  private open({ preset, width, height, preview }: Chosen, envSeeds: bigint[] = []): Promise<Session> {
    const observationFields = ["board", "current", ...(preview > 0 ? ["queue"] : [])];
    const config = { rules: { preset, width, height, preview }, autoresetMode: AutoresetMode.DISABLED, observationFields, infoFields: ["lines", "pieces"], envSeeds };
    return this.app.session(config, 1800);
  }

  private get now(): Moment {
    return this.past.at(-1)!;
  }

  /** Lands pieces, or goes back, until it has as many as the person. */
  private async catchUp(match: Match): Promise<void> {
    if (match === this.match && this.past.length === 0) {
      await this.start(match);
    }
    while (match === this.match && !this.now.isOver && this.now.pieces < this.goal) {
      await this.land(match);
    }
    if (match === this.match && this.now.pieces > this.goal) {
      const kept = this.past.filter(({ pieces }) => pieces <= this.goal);
      const then = kept.at(-1) ?? this.past[0]!;
      await this.alive((session) => session.restore({ states: [then.state] }));
      this.past = this.past.slice(0, this.past.indexOf(then) + 1);
      this.draw();
    }
  }

  /** Lands a piece. */
  private async land({ isKeypress }: Match): Promise<void> {
    const { field, dealt, kind, pieces } = this.now;
    let placements = await this.look();
    const rules = this.session!.description.config!.rules!;
    const { best } = await weigh(this.app.server, rules, this.weighing!, placements, 0, dealt);
    const [wanted, cells] = [placements.placements[best]!, cellsOf(placements, best)];
    let row = best;
    let step = await this.alive((session) => session.step([placements.actions[row]!]));
    // A key is a step of the way; the next one is asked for where the piece is then.
    while (Number(step.infos.pieces![0]) === pieces && step.terminated[0] === 0) {
      placements = await this.look();
      row = Math.max(0, placements.placements.indexOf(wanted));
      step = await this.alive((session) => session.step([placements.actions[row]!]));
    }
    const after = { field: field.copy(), dealt: dealt.copy(), isOver: step.terminated[0] === 1 || step.truncated[0] === 1 };
    const board = step.observations.board!;
    const there = isKeypress ? after.field.landing(kind, cells, board) : cells;
    if (there !== undefined) {
      after.field.land(kind, there, placements.terminal[row] === 0 || placements.lines[row]! > 0);
    }
    after.field.agree(board);
    if (!after.isOver) {
      after.dealt.go(step.observations.current![0]!, [...(step.observations.queue ?? [])]);
    }
    await this.remember(step, after);
  }

  /** Every placement of its piece. */
  private look(): Promise<Placements> {
    const { columns, expectation } = this.weighing!;
    const features = { features: [...columns] };
    return this.alive((session) => session.placements({ features, includeCells: true, includeAfterstates: expectation !== undefined }));
  }

  private async remember({ observations, infos }: FirstStep, { field, dealt, isOver }: Pick<Moment, "field" | "dealt" | "isOver">): Promise<void> {
    const [state] = await this.session!.save();
    this.past.push({ state: state!, field, dealt, isOver, kind: observations.current![0]!, pieces: Number(infos.pieces![0]), lines: infos.lines![0]! });
    this.past.splice(0, this.past.length - MEMORY);
    this.draw();
  }

  private draw(): void {
    const { field, kind, pieces, lines, isOver } = this.now;
    const { width, height } = field;
    [this.lines.textContent, this.pieces.textContent] = [grouped(lines), grouped(pieces)];
    const left = (width - 3) >> 1;
    const cells = (DRAWINGS[kind] ?? []).map(([row, column]): Cell => [height + row, left + column]);
    const words = isOver ? `Topped out\n${grouped(lines)} lines` : undefined;
    this.board.show({ width, height, cells: field.cells, last: field.last, piece: isOver ? undefined : { kind, cells }, words });
    this.board.surface.label = `Playfield of ${this.title.textContent}, ${width} by ${height}: ${grouped(lines)} lines, ${grouped(pieces)} pieces, filled up to row ${field.top}`;
  }

  /** A call on the session. If it is gone, the game goes on in a new one, from the last position. */
  private async alive<T>(call: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await call(this.session!);
    } catch (problem) {
      if (!isGone(problem)) {
        throw problem;
      }
      this.session = await this.open(this.match!.chosen);
      await this.session.restore({ states: [this.now.state] });
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
