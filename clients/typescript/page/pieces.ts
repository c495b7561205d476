// The visible pieces of a game: the current, next and held ones.

import type { Observations } from "../src/index.js";
import type { Rules } from "../src/protocol.js";

/** The visible pieces, by their numbers. */
export interface Hand {
  /** The current piece; -1 for none. */
  readonly current: number;
  /** The visible next pieces. */
  readonly next: readonly number[];
  /** The held piece; -1 for none. */
  readonly held: number;
}

/** No pieces. */
export const NO_PIECES: Hand = { current: -1, next: [], held: -1 };

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
