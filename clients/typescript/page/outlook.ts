// What the pieces to come can reach: how a controller with an expectation chooses, as the message `Expectation` of
// features.proto defines it. The sums are the server's, in its order, so the choices are its own.
//
// Placements come from the server, a call for each piece that is looked at; the page knows no rules.

import { type Placements, type Server, tensor } from "../src/index.js";
import { ExpectationTerms, Randomizer, type Rules } from "../src/protocol.js";
import type { Expecting, Weighing } from "./app.js";
import { type Judgement, judge, scores } from "./weighing.js";

const KINDS = 7;

/** The pieces that have been dealt in a game, as far as they were shown. */
export class Dealt {
  private readonly seen = new Array<number>(KINDS).fill(0);
  private next: readonly number[] = [];
  private last = -1;

  constructor(private readonly randomizer: Randomizer) {}

  /** The piece in play and the next ones, when a game begins. */
  begin(current: number, next: readonly number[]): void {
    [current, ...next].forEach((kind) => this.count(kind));
    this.next = next;
  }

  /** The same after a landing: one of them is new. */
  go(current: number, next: readonly number[]): void {
    this.count(next.at(-1) ?? current);
    this.next = next;
  }

  /** One that is the same and goes on alone. */
  copy(): Dealt {
    const copy = new Dealt(this.randomizer);
    this.seen.forEach((count, kind) => (copy.seen[kind] = count));
    copy.next = this.next;
    copy.last = this.last;
    return copy;
  }

  /** The next pieces that are shown. */
  get shown(): readonly number[] {
    return this.next;
  }

  /** How likely each tetromino is dealt next; the sum need not be 1. */
  get odds(): number[] {
    const [least, most] = [Math.min(...this.seen), Math.max(...this.seen)];
    // What is still in the bag came once less often; in a new bag there are all seven.
    const odds: Partial<Record<Randomizer, (count: number, kind: number) => number>> = {
      [Randomizer.BAG7]: (count) => (count === least ? 1 : 0),
      [Randomizer.BALANCED]: (count) => 5 + most - count,
      [Randomizer.NES]: (_, kind) => (kind === this.last ? 2 : 9),
    };
    return this.seen.map(odds[this.randomizer] ?? (() => 1));
  }

  private count(kind: number): void {
    if (kind >= 0) {
      this.seen[kind]!++;
      this.last = kind;
    }
  }
}

/** How a controller plays where so many next pieces are shown, in few words; and whether it weighs the pieces to come. */
export function wayOf(expectation: Expecting | undefined, preview: number): { weighs: boolean; words: string; more: string } {
  if (expectation === undefined) {
    return { weighs: false, words: "greedy", more: "The placement with the largest sum of weight times feature" };
  }
  const { pieces, placements } = expectation;
  if (pieces > preview + 1) {
    return { weighs: false, words: `greedy: needs a preview of ${pieces - 1}`, more: `It weighs ${pieces} pieces to come, of which ${pieces - 1} must be shown; without them it is greedy` };
  }
  return {
    weighs: true,
    words: pieces === 1 ? "weighs the next piece" : `weighs the next ${pieces} pieces`,
    more: `What the next ${pieces === 1 ? "piece" : `${pieces} pieces`} can reach after its best ${placements} placements; where a piece is hidden, the exact mean over the seven`,
  };
}

/** Judges the placements of one environment, as its controller plays. Without an expectation no call is made. */
export async function weigh(server: Server, rules: Rules, controller: Weighing, placements: Placements, env: number, dealt: Dealt): Promise<Judgement> {
  const greedy = judge(controller, placements, env);
  if (!wayOf(controller.expectation, rules.preview ?? 0).weighs) {
    return greedy;
  }
  const { first } = greedy;
  const outlook = new Outlook(server, rules, controller, dealt.odds);
  const values = await outlook.values(placements, [env], controller.expectation!.pieces, dealt.shown);
  const largest = Math.max(...values[0]!);
  // Where every placement ends the game, the first one.
  return { first, values: values[0]!, best: first + Math.max(0, values[0]!.indexOf(largest)) };
}

class Outlook {
  private readonly lost: number;

  constructor(
    private readonly server: Server,
    private readonly rules: Rules,
    private readonly controller: Weighing,
    private readonly odds: readonly number[],
  ) {
    this.lost = controller.expectation!.lostPiece * Math.max(...controller.weights.map(Math.abs));
  }

  /** A value for each placement of some positions; minus infinity for those that are not looked at. */
  async values(found: Placements, positions: readonly number[], pieces: number, next: readonly number[]): Promise<number[][]> {
    const { controller } = this;
    const { placements, discount, terms } = controller.expectation!;
    // With the other weights at 0, the sum of all terms has the bits of these alone.
    const own = terms === ExpectationTerms.ALL ? controller.weights : controller.weights.map((weight, at) => (terms !== ExpectationTerms.NONE && controller.landing[at] ? weight : 0));
    const judged = positions.map((position) => {
      const values = scores(controller, found, position);
      const order = values.map((_, at) => at).sort((one, other) => values[other]! - values[one]! || one - other);
      const looked = order.slice(0, placements).filter((at) => values[at] !== -Infinity).sort((one, other) => one - other);
      return { first: found.offsets[position]!, looked, values: values.map(() => -Infinity), terms: scores({ ...controller, avoids: false, weights: own }, found, position) };
    });
    const rows = judged.flatMap(({ first, looked }) => looked.map((at) => first + at));
    const follow = await this.following(found, rows, pieces, next);
    let row = 0;
    for (const { looked, values, terms } of judged) {
      for (const at of looked) {
        values[at] = terms[at]! + discount * follow[row++]!;
      }
    }
    return judged.map(({ values }) => values);
  }

  /** What the next piece can reach from the afterstates of some rows. */
  private async following(found: Placements, rows: readonly number[], pieces: number, next: readonly number[]): Promise<number[]> {
    const shown = next[0];
    const odds = shown === undefined ? this.odds : this.odds.map((_, kind) => (kind === shown ? 1 : 0));
    const kinds = odds.flatMap((chance, kind) => (chance > 0 ? [kind] : []));
    const asked = rows.filter((row) => found.terminal[row] === 0).flatMap((row) => kinds.map((kind) => ({ row, kind })));
    const reached = new Map<string, number>();
    if (asked.length > 0) {
      const isLast = shown === undefined || pieces === 1;
      const there = await this.enumerate(found, asked, !isLast);
      const all = asked.map((_, position) => position);
      const values = isLast ? all.map((position) => scores(this.controller, there, position)) : await this.values(there, all, pieces - 1, next.slice(1));
      asked.forEach(({ row, kind }, position) => {
        const best = Math.max(...values[position]!);
        reached.set(`${row},${kind}`, best === -Infinity ? this.lost : best);
      });
    }
    const sum = odds.reduce((sum, chance) => sum + chance, 0);
    return rows.map((row) => odds.reduce((total, chance, kind) => total + chance * (reached.get(`${row},${kind}`) ?? this.lost), 0) / sum);
  }

  /** Every placement of these pieces on the afterstates of these rows. */
  private enumerate(found: Placements, asked: readonly { row: number; kind: number }[], includeAfterstates: boolean): Promise<Placements> {
    const { afterstates } = found;
    const height = afterstates!.length / found.actions.length;
    const boards = new (afterstates!.constructor as Uint16ArrayConstructor)(asked.length * height);
    asked.forEach(({ row }, at) => boards.set(afterstates!.subarray(row * height, (row + 1) * height), at * height));
    const pieces = Uint8Array.from(asked, ({ kind }) => kind);
    const packed = { boards: tensor(boards, [asked.length, height]), pieces: tensor(pieces) };
    return this.server.placements({ rules: this.rules, packed }, { features: { features: [...this.controller.columns] }, includeAfterstates });
  }
}
