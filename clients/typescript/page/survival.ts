// How long games last: the share that is still going after a number of pieces, with games that were cut counted as long as they ran.

import type { Point } from "./charts.js";

/** Maximum number of points of a curve; a curve has two per step. */
const POINTS = 400;

/** The length of a game in pieces, and whether it was cut there instead of lost. */
export interface Lasting {
  readonly pieces: number;
  readonly isCut: boolean;
}

/**
 * The estimate of Kaplan and Meier as steps, with its 95 % interval: Greenwood's variance on the scale of log(-log), so that it stays
 * between 0 and 1.
 */
export function survivalOf(games: readonly Lasting[]): Point[] {
  const sorted = [...games].sort((one, other) => one.pieces - other.pieces);
  const points: Point[] = [{ x: 0, y: 1, low: 1, high: 1 }];
  let [alive, share, sum] = [sorted.length, 1, 0];
  for (let at = 0; at < sorted.length;) {
    const { pieces } = sorted[at]!;
    let end = at;
    while (sorted[end]?.pieces === pieces) {
      end++;
    }
    const losses = sorted.slice(at, end).filter(({ isCut }) => !isCut).length;
    const { y, low, high } = points.at(-1)!;
    points.push({ x: pieces, y, low: low!, high: high! });
    if (losses > 0) {
      share *= 1 - losses / alive;
      sum += losses / (alive * (alive - losses));
      const spread = Math.exp((1.96 * Math.sqrt(sum)) / Math.log(share));
      points.push(share > 0 ? { x: pieces, y: share, low: share ** (1 / spread), high: share ** spread } : { x: pieces, y: 0, low: 0, high: low! });
    }
    alive -= end - at;
    at = end;
  }
  const every = Math.ceil(points.length / POINTS);
  return points.filter((_, at) => at % every === 0 || at === points.length - 1);
}
