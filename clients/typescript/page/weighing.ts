// How a linear controller chooses, as features.proto says it: the same sums in the same order as on the server.

import type { Placements } from "../src/index.js";
import type { Weighing } from "./app.js";
import type { Cell } from "./tetromino.js";

/** The features that some controllers need, each once. */
export function union(controllers: readonly Weighing[]): string[] {
  return [...new Set(controllers.flatMap((controller) => controller.columns))];
}

/** The values of some rows of placements, and the best one of them. */
export interface Judgement {
  /** The first row. */
  readonly first: number;
  /** A value for each row; minus infinity for placements that end the game, if they are avoided. */
  readonly values: readonly number[];
  /** The row that is chosen, counted from the first one of the answer. */
  readonly best: number;
}

/** Judges the placements of one environment. */
export function judge(controller: Weighing, placements: Placements, env: number): Judgement {
  const [first, end] = [placements.offsets[env]!, placements.offsets[env + 1]!];
  const at = controller.columns.map((name) => placements.featureNames.indexOf(name));
  const width = placements.featureNames.length;
  const values: number[] = [];
  let best = first;
  for (let row = first; row < end; row++) {
    let value = 0;
    for (let column = 0; column < at.length; column++) {
      value += controller.weights[column]! * placements.features![row * width + at[column]!]!;
    }
    values.push(controller.avoids && placements.terminal[row] === 1 ? -Infinity : value);
    if (values[row - first]! > values[best - first]!) {
      best = row;
    }
  }
  return { first, values, best };
}

/** A feature's part in the value of one placement. */
export interface Part {
  readonly name: string;
  readonly feature: number;
  readonly weight: number;
}

/** What the value of a row is made of. */
export function parts(controller: Weighing, placements: Placements, row: number): Part[] {
  const width = placements.featureNames.length;
  return controller.columns.map((name, column) => ({
    name,
    feature: placements.features![row * width + placements.featureNames.indexOf(name)]!,
    weight: controller.weights[column]!,
  }));
}

/**
 * How good each placement is beside the best: 1 is as good, 0.5 as good as the one in the middle, 0 ends the game. By this, and
 * not by their size, values of any controller can be shown in the same colours.
 */
export function warmth({ values }: Judgement): number[] {
  const finite = values.filter(Number.isFinite).sort((a, b) => a - b);
  const high = finite.at(-1) ?? 0;
  const middle = finite[finite.length >> 1] ?? 0;
  const half = Math.max(high - middle, Number.MIN_VALUE);
  return values.map((value) => (Number.isFinite(value) ? 2 ** (-(high - value) / half) : 0));
}

/** The four cells of a row. */
export function cellsOf(placements: Placements, row: number): Cell[] {
  const cells = placements.cells!;
  return [0, 2, 4, 6].map((at): Cell => [cells[8 * row + at]!, cells[8 * row + at + 1]!]);
}
