// The pieces of a game as they are shown: the one in play, the next ones, the one that is held; and what of those to come can be
// known from them.

import type { Observations } from "../src/index.js";
import { Randomizer, type Rules } from "../src/protocol.js";

const KINDS = 7;

/** The pieces that are shown, by their numbers. */
export interface Hand {
  /** The one in play; -1 where there is none. */
  readonly current: number;
  /** The next ones, as many as are shown. */
  readonly next: readonly number[];
  /** The one that is held; -1 while none is. */
  readonly held: number;
}

/** The pieces of an environment of an answer. */
export function handOf({ current, queue, held }: Observations, { preview = 0 }: Rules, at = 0): Hand {
  return { current: current![at]!, next: [...(queue?.subarray(at * preview, (at + 1) * preview) ?? [])], held: held?.[at] ?? -1 };
}

/** The piece that a placement is of: the one in play, or, if that is held, the other one. */
export function placed({ current, next, held }: Hand, holds: boolean): number {
  return !holds ? current : held >= 0 ? held : (next[0] ?? -1);
}

/** What is shown once a placement of this kind has been chosen: after holding, the other piece is in play. */
export function choosing(hand: Hand, holds: boolean): Hand {
  const { current, next, held } = hand;
  return holds ? { current: placed(hand, true), next: held >= 0 ? next : next.slice(1), held: current } : hand;
}

/** The pieces that have been dealt in a game, as far as they were shown. */
export class Pieces {
  private readonly seen = new Array<number>(KINDS).fill(0);
  /** What is shown now. */
  hand: Hand = { current: -1, next: [], held: -1 };

  constructor(private readonly randomizer = Randomizer.UNIFORM) {}

  /** A game begins. */
  begin(hand: Hand): void {
    [hand.current, ...hand.next].forEach((kind) => this.count(kind));
    this.hand = hand;
  }

  /** The same after a step: of those shown one is new if a piece has landed, and one more where the first piece was held. */
  go(hand: Hand, hasLanded = true): void {
    const fresh = Number(hasLanded) + Number(this.hand.held < 0 && hand.held >= 0);
    const shown = [hand.current, ...hand.next];
    shown.slice(shown.length - fresh).forEach((kind) => this.count(kind));
    this.hand = hand;
  }

  /** One that is the same and goes on alone. */
  copy(): Pieces {
    const copy = new Pieces(this.randomizer);
    this.seen.forEach((count, kind) => (copy.seen[kind] = count));
    copy.hand = this.hand;
    return copy;
  }

  /** How likely each tetromino is dealt next; the sum need not be 1. */
  get odds(): number[] {
    const [least, most] = [Math.min(...this.seen), Math.max(...this.seen)];
    // What is still in the bag came once less often; in a new bag there are all seven.
    const last = this.hand.next.at(-1) ?? this.hand.current;
    const odds: Record<Exclude<Randomizer, Randomizer.UNSPECIFIED>, (count: number, kind: number) => number> = {
      [Randomizer.UNIFORM]: () => 1,
      [Randomizer.BAG7]: (count) => (count === least ? 1 : 0),
      [Randomizer.BALANCED]: (count) => 5 + most - count,
      [Randomizer.NES]: (_, kind) => (kind === last ? 2 : 9),
    };
    return this.seen.map(odds[this.randomizer as keyof typeof odds]);
  }

  private count(kind: number): void {
    if (kind >= 0) {
      this.seen[kind]!++;
    }
  }
}
