// The visible pieces of a game: the current, next and held ones; and the garbage that waits.

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
  /** Rows of garbage that wait; element k may rise when the k-th piece from now lands, the current one being the 0th. */
  readonly garbage: readonly number[];
}

/** No pieces. */
export const NO_PIECES: Hand = { current: -1, next: [], held: -1, garbage: [] };

/** The visible pieces of an environment in an answer. */
export function handOf({ current, queue, held, garbage }: Observations, { preview = 0, garbage: rising }: Rules, at = 0): Hand {
  const delays = (rising?.delayPieces ?? 0) + 1;
  return {
    current: current![at]!,
    next: [...(queue?.subarray(at * preview, (at + 1) * preview) ?? [])],
    held: held?.[at] ?? -1,
    garbage: [...(garbage?.subarray(at * delays, (at + 1) * delays) ?? [])],
  };
}

/** Number of rows of garbage that wait; undefined under rules without garbage. */
export function incoming({ garbage }: Hand): number | undefined {
  return garbage.length === 0 ? undefined : garbage.reduce((sum, rows) => sum + rows, 0);
}

/** Waiting rows of garbage in words, to end a sentence; empty for none. */
export function comingInWords(hand: Hand): string {
  const rows = incoming(hand) ?? 0;
  return rows > 0 ? `, ${rows} ${rows === 1 ? "row" : "rows"} of garbage to come` : "";
}

/** The playfield of an environment in an answer. */
export function boardOf({ board }: Observations, { width = 0, height = 0 }: Rules, at = 0): Uint8Array {
  return board!.subarray(at * width * height, (at + 1) * width * height);
}

/** The piece of a placement: the current piece, or the other one if the placement holds it. */
export function placed({ current, next, held }: Pick<Hand, "current" | "next" | "held">, holds: boolean): number {
  return !holds ? current : held >= 0 ? held : (next[0] ?? -1);
}

/** The visible pieces after a choice. If it holds, the other piece is the current one. */
export function choosing(hand: Hand, holds: boolean): Hand {
  const { current, next, held } = hand;
  return holds ? { ...hand, current: placed(hand, true), next: held >= 0 ? next : next.slice(1), held: current } : hand;
}
