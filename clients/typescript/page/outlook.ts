// How a controller with an expectation weighs the pieces to come, as the message `Expectation` in policy.proto defines it. The sums
// are the server's, in its order, so the choices are the same.
//
// The server lists the placements, with one call per piece to come.

import { type Placements, type Client, tensor } from "../src/index.js";
import { ExpectationTerms, type Rules } from "../src/protocol.js";
import type { Expecting, Weighing } from "./app.js";
import { type Hand, type Pieces, choosing } from "./pieces.js";
import { type Judgement, judge, scores } from "./weighing.js";

/** How a controller plays with this preview, in words, and whether it weighs the pieces to come. */
export function wayOf(expectation: Expecting | undefined, preview: number): { weighs: boolean; words: string; more: string } {
  if (expectation === undefined) {
    return { weighs: false, words: "greedy", more: "The placement with the largest sum of weight times feature" };
  }
  const { pieces, placements, caution } = expectation;
  if (pieces > preview + 1) {
    return { weighs: false, words: `greedy: needs a preview of ${pieces - 1}`, more: `It weighs ${pieces} pieces to come, of which ${pieces - 1} must be shown; without them it is greedy` };
  }
  return {
    weighs: true,
    words: pieces === 1 ? "weighs the next piece" : `weighs the next ${pieces} pieces`,
    more: `Value that the next ${pieces === 1 ? "piece" : `${pieces} pieces`} can reach after the best ${placements} placements; if a piece is hidden, the exact mean over all seven${caution > 0 ? `, less ${caution} standard deviations` : ""}`,
  };
}

/** Judges the placements of one environment. Without an expectation this needs no call. */
export async function weigh(client: Client, rules: Rules, controller: Weighing, placements: Placements, env: number, pieces: Pieces): Promise<Judgement> {
  const greedy = judge(controller, placements, env);
  if (!wayOf(controller.expectation, rules.preview ?? 0).weighs) {
    return greedy;
  }
  const { first } = greedy;
  const outlook = new Outlook(client, rules, controller, pieces.odds);
  const values = await outlook.values(placements, [env], controller.expectation!.pieces, [pieces.hand]);
  const largest = Math.max(...values[0]!);
  // If every placement ends the game, the first one is chosen.
  return { first, values: values[0]!, best: first + Math.max(0, values[0]!.indexOf(largest)) };
}

/** Mean of the best value per piece, less `caution` standard deviations. */
function cautiousMean(odds: readonly number[], bests: readonly number[], caution: number): number {
  const sum = odds.reduce((sum, chance) => sum + chance, 0);
  const mean = odds.reduce((total, chance, kind) => total + chance * bests[kind]!, 0) / sum;
  if (caution === 0) {
    return mean;
  }
  const apart = bests.map((best) => best - mean);
  const variance = odds.reduce((total, chance, kind) => total + chance * apart[kind]! * apart[kind]!, 0) / sum;
  return mean - caution * Math.sqrt(variance);
}

/** An examined placement: its row in the answer, and the visible pieces after it. */
interface Row {
  readonly at: number;
  readonly hand: Hand;
}

/** A possible next piece after a row, with the visible pieces then. */
interface Asked extends Row {
  /** Index of the row among the examined ones. */
  readonly row: number;
  /** Whether this is the last examined piece. */
  readonly isLast: boolean;
}

class Outlook {
  private readonly lost: number;

  constructor(
    private readonly client: Client,
    private readonly rules: Rules,
    private readonly controller: Weighing,
    private readonly odds: readonly number[],
  ) {
    this.lost = controller.expectation!.lostPiece * Math.max(...controller.weights.map(Math.abs));
  }

  /** Values of the placements of some positions with these pieces; minus infinity for placements that are not examined. */
  async values(found: Placements, positions: readonly number[], pieces: number, hands: readonly Hand[]): Promise<number[][]> {
    const { controller } = this;
    const { placements, discount, terms } = controller.expectation!;
    // With the other weights at 0, the sum of all terms has the bits of these alone.
    const own = terms === ExpectationTerms.ALL ? controller.weights : controller.weights.map((weight, at) => (terms !== ExpectationTerms.NONE && controller.landing[at] ? weight : 0));
    const judged = positions.map((position, place) => {
      const values = this.scores(found, position, hands[place]!);
      const order = values.map((_, at) => at).sort((one, other) => values[other]! - values[one]! || one - other);
      const looked = order.slice(0, placements).filter((at) => values[at] !== -Infinity).sort((one, other) => one - other);
      return { first: found.rowOffsets[position]!, hand: hands[place]!, looked, values: values.map(() => -Infinity), terms: scores({ ...controller, avoids: false, weights: own }, found, position) };
    });
    const rows = judged.flatMap(({ first, hand, looked }) => looked.map((at): Row => ({ at: first + at, hand: choosing(hand, found.holds?.[first + at] === 1) })));
    const follow = await this.following(found, rows, pieces);
    let row = 0;
    for (const { looked, values, terms } of judged) {
      for (const at of looked) {
        values[at] = terms[at]! + discount * follow[row++]!;
      }
    }
    return judged.map(({ values }) => values);
  }

  /** Scores of a position. Placements that hold for a hidden piece are left out, because the page must not know that piece. */
  private scores(found: Placements, position: number, { held, next }: Hand): number[] {
    const first = found.rowOffsets[position]!;
    const isHidden = held < 0 && next.length === 0;
    return scores(this.controller, found, position).map((score, at) => (isHidden && found.holds?.[first + at] === 1 ? -Infinity : score));
  }

  /** Best values that the next piece can reach from the afterstates of some rows. */
  private async following(found: Placements, rows: readonly Row[], pieces: number): Promise<number[]> {
    const asked: Asked[] = rows.flatMap(({ at, hand }, row) => {
      const [shown, ...next] = hand.next;
      const kinds = shown === undefined ? this.odds.flatMap((chance, kind) => (chance > 0 ? [kind] : [])) : [shown];
      const isLast = shown === undefined || pieces === 1;
      return found.terminated[at] === 1 ? [] : kinds.map((current) => ({ row, at, isLast, hand: { current, next, held: hand.held } }));
    });
    const reached = new Map<string, number>();
    for (const isLast of [true, false]) {
      const some = asked.filter((one) => one.isLast === isLast);
      if (some.length > 0) {
        const there = await this.enumerate(found, some, !isLast);
        const hands = some.map(({ hand }) => hand);
        const values = isLast ? hands.map((hand, position) => this.scores(there, position, hand)) : await this.values(there, [...hands.keys()], pieces - 1, hands);
        some.forEach(({ row, hand }, position) => {
          const best = Math.max(...values[position]!);
          reached.set(`${row},${hand.current}`, best === -Infinity ? this.lost : best);
        });
      }
    }
    return rows.map(({ hand }, row) => {
      const shown = hand.next[0];
      const odds = shown === undefined ? this.odds : this.odds.map((_, kind) => (kind === shown ? 1 : 0));
      const bests = odds.map((_, kind) => reached.get(`${row},${kind}`) ?? this.lost);
      return cautiousMean(odds, bests, this.controller.expectation!.caution);
    });
  }

  /** Lists the placements of these pieces on the afterstates of these rows. */
  private enumerate(found: Placements, asked: readonly Asked[], includeAfterstates: boolean): Promise<Placements> {
    const { afterstates } = found;
    const { preview = 0, hold } = this.rules;
    const height = afterstates!.length / found.actions.length;
    const boards = new (afterstates!.constructor as Uint16ArrayConstructor)(asked.length * height);
    asked.forEach(({ at }, place) => boards.set(afterstates!.subarray(at * height, (at + 1) * height), place * height));
    const pieces = Uint8Array.from(asked, ({ hand }) => hand.current);
    // With hold, a next piece can be placed instead of the current one.
    const queues = new Int8Array(asked.length * preview).fill(-1);
    asked.forEach(({ hand }, place) => queues.set(hand.next.slice(0, preview), place * preview));
    const held = Int8Array.from(asked, ({ hand }) => hand.held);
    const others = hold === true && { queues: tensor(queues, [asked.length, preview]), held: tensor(held) };
    const packed = { boards: tensor(boards, [asked.length, height]), pieces: tensor(pieces), ...others };
    return this.client.enumeratePlacements({ rules: this.rules, packed }, { features: this.controller.columns, includeAfterstates });
  }
}
