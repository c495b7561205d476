// The values that players give placements: the server computes them, and this file reads its answer.

import { type Placements, type Policy, placementOf } from "../src/index.js";
import type { Expectation } from "../src/protocol.js";
import type { Choices } from "./address.js";
import type { Warm } from "./heat.js";
import type { Cell } from "./tetromino.js";

/** A linear controller at some width: its features and their weights. */
export interface Weighing {
  readonly name: string;
  readonly set: string;
  /** Names of the features. */
  readonly columns: readonly string[];
  /** Published weights. */
  readonly original: readonly number[];
  /** Current weights, which sliders change. */
  readonly weights: number[];
  /** Whether the controller avoids game-ending placements regardless of their features. */
  readonly avoids: boolean;
  /** How the controller weighs the pieces to come; undefined if it is greedy. */
  readonly expectation: Expectation | undefined;
  /** Source of the controller. */
  readonly source: string;
}

/** How a controller plays with this preview, in words, and whether it weighs the pieces to come. */
export function wayOf(expectation: Expectation | undefined, preview: number): { weighs: boolean; words: string; more: string } {
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

/** The policy of a controller with its current weights. With a preview that is too short for its search it is greedy. */
export function policyOfWeights({ set, weights, avoids, expectation }: Weighing, preview: number): Policy {
  const search = expectation !== undefined && wayOf(expectation, preview).weighs ? { expectation } : { greedy: {} };
  return { weights: { features: set, weights: [...weights] }, terminalValue: avoids ? "avoid" : "score", search };
}

/** The values of one position's placements, and the best one. */
export interface Judgement {
  /** The first row. */
  readonly first: number;
  /** A value for each row; minus infinity for placements that the policy does not consider. */
  readonly values: readonly number[];
  /** The chosen row of the answer. */
  readonly best: number;
}

/** The values and the choice of the policy of a call, or the exact values, for a position of the answer. */
export function judgementOf({ rowOffsets, policyValues, policyChoices, optimalValues }: Placements, position = 0): Judgement {
  const [first, end] = [rowOffsets[position]!, rowOffsets[position + 1]!];
  const values = [...(policyValues ?? optimalValues)!.subarray(first, end)];
  const most = Math.max(...values.filter((value) => !Number.isNaN(value)));
  return { first, values, best: policyChoices?.[position] ?? first + Math.max(0, values.indexOf(most)) };
}

/** The second best row: the best one with a smaller value than the choice; undefined if there is none. */
export function runnerUp({ first, values, best }: Judgement): number | undefined {
  const others = values.flatMap((value, at) => (value < values[best - first]! && Number.isFinite(value) ? [at] : []));
  return others.length === 0 ? undefined : first + others.reduce((one, other) => (values[other]! > values[one]! ? other : one));
}

/** Other placements with the value of the choice, in words; empty for none. */
export function tiesInWords({ first, values, best }: Judgement): string {
  const ties = values.filter((value) => value === values[best - first]).length - 1;
  return ties > 0 ? `; ${ties} ${ties === 1 ? "other is" : "others are"} as good` : "";
}

/** Lead of a placement over another by a feature, or by a term of a formula. */
export interface Lead {
  readonly name: string;
  /** Number at the placement, and at the other one. */
  readonly here: number;
  readonly there: number;
  /** 1 for a term of a formula. */
  readonly weight: number;
  /** Weight times difference. */
  readonly adds: number;
}

/** The lead of a placement over another by each feature of a controller. */
export function leads(controller: Weighing, { featureNames, features }: Placements, row: number, other: number): Lead[] {
  const width = featureNames.length;
  return controller.columns.map((name, column) => {
    const at = featureNames.indexOf(name);
    const [here, there, weight] = [features![row * width + at]!, features![other * width + at]!, controller.weights[column]!];
    return { name: name.replaceAll("_", " "), here, there, weight, adds: weight * (here - there) };
  });
}

/**
 * Rank of each placement from 0 to 1: 1 is the best, 0.5 the median, 0 ends the game. Ranks let the values of any player share one
 * colour scale.
 */
export function warmth({ values }: Judgement): number[] {
  const finite = values.filter(Number.isFinite).sort((a, b) => a - b);
  const high = finite.at(-1) ?? 0;
  const middle = finite[finite.length >> 1] ?? 0;
  const half = Math.max(high - middle, Number.MIN_VALUE);
  return values.map((value) => (Number.isFinite(value) ? 2 ** (-(high - value) / half) : 0));
}

/** Whether full rows clear after the placement of a row: not if it loses the game without a line. */
export function clearsRows({ terminated, lines }: Placements, row: number): boolean {
  return terminated[row] === 0 || lines[row]! > 0;
}

/** The placements of a position for a heat map. A placement that the player did not examine has no warmth. */
export function warmPlacements(placements: Placements, judgement: Judgement): Warm[] {
  const { first, values } = judgement;
  const warm = warmth(judgement);
  const isKnown = (at: number) => Number.isFinite(values[at]!) || placements.terminated[first + at] === 1;
  return values.map((_, at) => ({ ...placementOf(placements, first + at), row: first + at, warmth: isKnown(at) ? warm[at]! : undefined }));
}

/** The four cells of a row. */
export function cellsOf({ cells }: Placements, row: number): Cell[] {
  return cellsAt(cells!, row);
}

/** The four cells of a row of numbers `[R, 4, 2]`. */
export function cellsAt(cells: ArrayLike<number>, row: number): Cell[] {
  return [0, 2, 4, 6].map((at): Cell => [cells[8 * row + at]!, cells[8 * row + at + 1]!]);
}

/** What plays: a controller, perhaps with other weights, or a formula. */
export interface Player {
  readonly name: string;
  readonly formula: string | undefined;
  /** Weights other than the published ones. */
  readonly weights: readonly number[] | undefined;
}

/** A player as choices of an address: the controller as `choice`, a formula and weights with `suffix` at the end of their names. */
export function playerOf({ name, formula, weights }: Player, choice: string, suffix: string): Choices {
  return formula !== undefined ? { [`formula${suffix}`]: formula } : { [choice]: name, ...(weights !== undefined && { [`weights${suffix}`]: String(weights) }) };
}

/** Parses the weights in an address. Throws a `RangeError` unless there are `count` weights of at most `largest` in size. */
export function weightsOf(text: string, count: number, largest: number): number[] {
  const weights = text.split(",").map((weight) => (weight.trim() === "" ? NaN : Number(weight)));
  if (weights.length !== count || weights.some(Number.isNaN)) {
    throw new RangeError(`${count} numbers with commas between them`);
  }
  if (weights.some((weight) => Math.abs(weight) > largest)) {
    throw new RangeError(`numbers from ${-largest} to ${largest}`);
  }
  return weights;
}
