// The visible pieces of a game: the current, next and held ones, and the odds of hidden pieces that follow from them.

import type { Observations } from "../src/index.js";
import { Randomizer, type Rules } from "../src/protocol.js";

const KINDS = 7;

/** The visible pieces, by their numbers. */
export interface Hand {
  /** The current piece; -1 for none. */
  readonly current: number;
  /** The visible next pieces. */
  readonly next: readonly number[];
  /** The held piece; -1 for none. */
  readonly held: number;
}

/** The visible pieces of an environment in an answer. */
export function handOf({ current, queue, held }: Observations, { preview = 0 }: Rules, at = 0): Hand {
  return { current: current![at]!, next: [...(queue?.subarray(at * preview, (at + 1) * preview) ?? [])], held: held?.[at] ?? -1 };
}

/** The piece of a placement: the current piece, or the other one if the placement holds it. */
export function placed({ current, next, held }: Hand, holds: boolean): number {
  return !holds ? current : held >= 0 ? held : (next[0] ?? -1);
}

/** The visible pieces after a choice. If it holds, the other piece is the current one. */
export function choosing(hand: Hand, holds: boolean): Hand {
  const { current, next, held } = hand;
  return holds ? { current: placed(hand, true), next: held >= 0 ? next : next.slice(1), held: current } : hand;
}

/** The pieces of a game that have been visible so far. */
export class Pieces {
  private readonly seen = new Array<number>(KINDS).fill(0);
  /** The visible pieces. */
  hand: Hand = { current: -1, next: [], held: -1 };

  constructor(private readonly randomizer = Randomizer.UNIFORM) {}

  /** Starts a game. */
  begin(hand: Hand): void {
    [hand.current, ...hand.next].forEach((kind) => this.count(kind));
    this.hand = hand;
  }

  /** Takes the visible pieces after a step. One is new if a piece has landed, and one more after the first hold. */
  go(hand: Hand, hasLanded = true): void {
    const fresh = Number(hasLanded) + Number(this.hand.held < 0 && hand.held >= 0);
    const shown = [hand.current, ...hand.next];
    shown.slice(shown.length - fresh).forEach((kind) => this.count(kind));
    this.hand = hand;
  }

  /** An independent copy. */
  copy(): Pieces {
    const copy = new Pieces(this.randomizer);
    this.seen.forEach((count, kind) => (copy.seen[kind] = count));
    copy.hand = this.hand;
    return copy;
  }

  /** Odds of each tetromino to be dealt next. The sum need not be 1. */
  get odds(): number[] {
    const [least, most] = [Math.min(...this.seen), Math.max(...this.seen)];
    // Pieces still in the bag have come once less often. A new bag has all seven.
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
