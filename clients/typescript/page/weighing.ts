// How a linear controller chooses, as features.proto defines it: the server's sums in the server's order.

import type { Placements } from "../src/index.js";
import type { Weighing } from "./app.js";
import type { Cell } from "./tetromino.js";

/** All features that some controllers need, without duplicates. */
export function union(controllers: readonly Weighing[]): string[] {
  return [...new Set(controllers.flatMap((controller) => controller.columns))];
}

/** The values of one position's placements, and the best one. */
export interface Judgement {
  /** The first row. */
  readonly first: number;
  /** A value for each row; minus infinity for avoided game-ending placements and for placements that were not examined. */
  readonly values: readonly number[];
  /** The chosen row of the answer. */
  readonly best: number;
}

/** The score of each placement of one position; minus infinity for game-ending placements, if the controller avoids them. */
export function scores(controller: Weighing, placements: Placements, position: number): number[] {
  const [first, end] = [placements.rowOffsets[position]!, placements.rowOffsets[position + 1]!];
  const at = controller.columns.map((name) => placements.featureNames.indexOf(name));
  const width = placements.featureNames.length;
  const scores: number[] = [];
  for (let row = first; row < end; row++) {
    let score = 0;
    for (let column = 0; column < at.length; column++) {
      score += controller.weights[column]! * placements.features![row * width + at[column]!]!;
    }
    scores.push(controller.avoids && placements.terminated[row] === 1 ? -Infinity : score);
  }
  return scores;
}

/** Judges the placements of one environment by their scores alone. */
export function judge(controller: Weighing, placements: Placements, env: number): Judgement {
  const first = placements.rowOffsets[env]!;
  const values = scores(controller, placements, env);
  const largest = Math.max(...values);
  return { first, values, best: first + Math.max(0, values.indexOf(largest)) };
}

/** A feature's share of a placement's value. */
export interface Part {
  readonly name: string;
  readonly feature: number;
  readonly weight: number;
}

/** The shares of all features in a placement's value. */
export function parts(controller: Weighing, placements: Placements, row: number): Part[] {
  const width = placements.featureNames.length;
  return controller.columns.map((name, column) => ({
    name,
    feature: placements.features![row * width + placements.featureNames.indexOf(name)]!,
    weight: controller.weights[column]!,
  }));
}

/**
 * Rank of each placement from 0 to 1: 1 is the best, 0.5 the median, 0 ends the game. Ranks let the values of any controller share
 * one colour scale.
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
