// Placements: their request, their answer as arrays, and what their numbers and their keys mean.
//
// Which placements exist is the server's business; here is how rules.proto numbers them.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { ANY, ascending, column } from "./answers.js";
import type { CallOptions } from "./call.js";
import { unreadable } from "./errors.js";
import type {
  EnumeratePlacementsRequestSchema,
  EnumeratePlacementsResponse,
  PositionsSchema,
  SessionEnvsSchema,
} from "./gen/tetrion/v1/environment_service_pb.js";
import type { FeatureSelectionSchema } from "./gen/tetrion/v1/features_pb.js";
import { Reach, type Rules, SpinRule } from "./gen/tetrion/v1/rules_pb.js";
import { DataType, type Tensor } from "./gen/tetrion/v1/tensor_pb.js";
import { int32s } from "./requests.js";
import { type ElementType, tensor } from "./tensors.js";

/** What to know of placements. */
export interface PlacementOptions extends CallOptions {
  /** The features wanted: `{set: "bcts"}`, or `{features: ["holes", "bumpiness"]}`. */
  readonly features?: MessageInitShape<typeof FeatureSelectionSchema>;
  readonly includeAfterstates?: boolean;
  readonly includeCells?: boolean;
  /** Whether the keys to each placement are wanted, which `keysOf` reads. Not for rules of straight drops. */
  readonly includeKeys?: boolean;
  /** `[B]`: nothing but the placement of this action, of each position: its keys, say, once it has been chosen. */
  readonly actions?: Int32Array | readonly number[];
}

/** The names of these options, besides those of every call. */
export const PLACEMENT_OPTIONS = ["features", "includeAfterstates", "includeCells", "includeKeys", "actions"] as const satisfies readonly (keyof PlacementOptions)[];

/** R placements of B positions. */
export interface Placements {
  /** `[B + 1]`: the rows of position i are `offsets[i]` to `offsets[i + 1] - 1`. */
  readonly offsets: Uint32Array;
  /** `[R]`: what a step takes. */
  readonly actions: Int32Array;
  /** `[R]`: the number of the placement, which `placementOf` reads. */
  readonly placements: Int32Array;
  /** `[R]`: points. */
  readonly rewards: Float32Array;
  /** `[R]`: lines that it clears. */
  readonly lines: Uint8Array;
  /** `[R]`: 1 where it ends the game. */
  readonly terminal: Uint8Array;
  /** `[R, F]`: the features of each landing, if they are wanted. */
  readonly features: Float32Array | undefined;
  /** `[F]`: the names of the features. */
  readonly featureNames: readonly string[];
  /** `[R, height]`: the playfield after it, as `board_bits`, if it is wanted. */
  readonly afterstates: Uint16Array | Uint32Array | undefined;
  /** `[R, 4, 2]`: row and column of the four cells where they come to rest, if they are wanted. */
  readonly cells: Int8Array | undefined;
  /** `[R]`: what it counts as, where the rules tell spins apart: 0 no spin, 1 mini, 2 full. */
  readonly spins: Uint8Array | undefined;
  /** `[R]`: 1 where the current piece is held and the other one placed, where the rules have hold. */
  readonly holds: Uint8Array | undefined;
  /** `[R]`: lines that it sends, where the rules count them. */
  readonly attacks: Uint8Array | undefined;
  /** `[R + 1]`: the keys of row j are `keys[keyOffsets[j]]` to `keys[keyOffsets[j + 1] - 1]`, if they are wanted. */
  readonly keyOffsets: Uint32Array | undefined;
  /** `[K]`: places in `KEYS`, if they are wanted. */
  readonly keys: Uint8Array | undefined;
}

/** The names of keys by their numbers. */
export const KEYS = [
  "left",
  "right",
  "far_left", // until something is in the way, as a key does that is held
  "far_right",
  "turn_right",
  "turn_left",
  "turn_half",
  "soft_drop", // one row
  "sonic_drop", // until something is in the way, without locking
  "hard_drop",
  "hold",
] as const;

/** The name of a key. */
export type KeyName = (typeof KEYS)[number];

/**
 * The keys that take the piece of a row to its placement, in the order in which they are pressed; there is no shorter list. None
 * if it would have more than `Limits.maxKeys`, as in a maze.
 *
 * @throws TypeError if no keys were asked for, or if there is no such row.
 */
export function keysOf({ actions, keyOffsets, keys }: Placements, row: number): KeyName[] {
  if (keyOffsets === undefined || keys === undefined) {
    throw new TypeError("no keys were asked for: expected placements({ includeKeys: true })");
  }
  if (!Number.isInteger(row) || row < 0 || row >= actions.length) {
    throw new TypeError(`row ${row} is not one of ${actions.length} placements`);
  }
  return [...keys.subarray(keyOffsets[row], keyOffsets[row + 1])].map((key) => KEYS[key]!);
}

/** What the number of a placement says. */
export interface Placement {
  /** Which way it is turned, as the orientation table of the rules numbers them. */
  readonly orientation: number;
  /** The column of its leftmost cell. */
  readonly column: number;
  /** The row of its lowest cell; undefined where a piece drops straight down, so that the column says it all. */
  readonly row: number | undefined;
  /** What it counts as: 0 no spin, 1 mini, 2 full. */
  readonly spin: number;
  /** Whether the current piece is held and the other one placed. */
  readonly hold: boolean;
}

/**
 * What the number of a placement says under these rules, which have every field, as `session.rules` has them.
 *
 * @throws TypeError if a field is missing from the rules, or if they have no such number.
 */
export function placementOf(rules: Rules, number: number): Placement {
  const { width, rows, labels, hands, namesSpots } = basesOf(rules);
  const all = 4 * width * rows * labels;
  check("placement", number, hands * all);
  const spot = number % all;
  const row = Math.floor(spot / labels) % rows;
  const place = Math.floor(spot / (labels * rows));
  return { orientation: Math.floor(place / width), column: place % width, row: namesSpots ? row : undefined, spin: spot % labels, hold: number >= all };
}

/**
 * The number of a placement under these rules, which have every field; whether it exists is another question.
 *
 * @throws TypeError if a field is missing from the rules, or if one of the placement is out of their range.
 */
export function actionOf(rules: Rules, { orientation, column, row, spin, hold }: Placement): number {
  const { width, rows, labels, hands, namesSpots } = basesOf(rules);
  check("orientation", orientation, 4);
  check("column", column, width);
  if (namesSpots) {
    check("row", row, rows);
  } else if (row !== undefined) {
    throw new TypeError(`row is ${row}, expected undefined: under these rules a piece drops, and the column says where it lands`);
  }
  check("spin", spin, labels);
  if (typeof hold !== "boolean" || (hold && hands === 1)) {
    throw new TypeError(`hold is ${hold}, expected ${hands === 1 ? "false: these rules have no hold" : "true or false"}`);
  }
  return ((((hold ? 4 : 0) + orientation) * width + column) * rows + (row ?? 0)) * labels + spin;
}

/** What numbers are made of: columns, rows in which a piece can come to rest, what it can count as, pieces to choose between. */
function basesOf(rules: Rules): { width: number; rows: number; labels: number; hands: number; namesSpots: boolean } {
  const [width, height, rowsAbove] = [fieldOf(rules, "width"), fieldOf(rules, "height"), fieldOf(rules, "rowsAbove")];
  const namesSpots = fieldOf(rules, "reach") === Reach.SRS;
  const tellsSpins = fieldOf(rules, "spins") !== SpinRule.OFF;
  const hands = fieldOf(rules, "hold") ? 2 : 1;
  return { width, rows: namesSpots ? Math.min(height + 1, height - rowsAbove + 4) : 1, labels: namesSpots && tellsSpins ? 3 : 1, hands, namesSpots };
}

/** A field that rules must have: the preset's number in place of a missing one would be a number of another game. */
function fieldOf<Name extends "width" | "height" | "rowsAbove" | "reach" | "spins" | "hold">(rules: Rules, name: Name): NonNullable<Rules[Name]> {
  const value = rules[name];
  // An enum's 0 says nothing either.
  if (value === undefined || ((name === "reach" || name === "spins") && value === 0)) {
    throw new TypeError(`rules.${name} is ${value}, expected rules with every field, as session.rules has them`);
  }
  return value;
}

/** Checks that a number is one of so many, from 0. */
function check(name: string, value: number | undefined, count: number): void {
  if (value === undefined || !Number.isInteger(value) || value < 0 || value >= count) {
    throw new TypeError(`${name} is ${value}, expected ${count === 1 ? 0 : `an integer from 0 to ${count - 1}`}`);
  }
}

/** Whose placements are asked for. */
type Source =
  | { case: "sessionEnvs"; value: MessageInitShape<typeof SessionEnvsSchema> }
  | { case: "positions"; value: MessageInitShape<typeof PositionsSchema> };

/** The request. */
export function placementsRequest(source: Source, { signal: _, actions, ...wanted }: PlacementOptions): MessageInitShape<typeof EnumeratePlacementsRequestSchema> {
  return { ...wanted, source, ...(actions !== undefined && { actions: tensor(int32s("actions", actions)) }) };
}

/** The answer for so many positions as arrays. */
export function placementsOf(answer: EnumeratePlacementsResponse, numPositions: number, wanted: PlacementOptions): Placements {
  const offsets = column("row_offsets", answer.rowOffsets, [DataType.UINT32], [numPositions === ANY ? ANY : numPositions + 1]);
  const actions = column("actions", answer.actions, [DataType.INT32], [ANY]);
  const rows = actions.length;
  ascending("row_offsets", offsets, rows);
  const featureNames = answer.featureColumns?.names ?? [];
  /** What is there if it was asked for, or if the rules have it. */
  const optional = <D extends ElementType>(name: string, tensor: Tensor | undefined, isWanted: unknown, dtypes: readonly D[], ...shape: readonly number[]) =>
    tensor === undefined && !isWanted ? undefined : column(name, tensor, dtypes, [rows, ...shape]);
  const keyOffsets = wanted.includeKeys ? column("key_offsets", answer.keyOffsets, [DataType.UINT32], [rows + 1]) : undefined;
  const keys = wanted.includeKeys ? column("keys", answer.keys, [DataType.UINT8], [ANY]) : undefined;
  if (keyOffsets !== undefined && keys !== undefined) {
    ascending("key_offsets", keyOffsets, keys.length);
    if (keys.some((key) => key >= KEYS.length)) {
      throw unreadable("keys hold a number that is no key");
    }
  }
  return {
    offsets,
    actions,
    placements: column("placements", answer.placements, [DataType.INT32], [rows]),
    rewards: column("rewards", answer.rewards, [DataType.FLOAT32], [rows]),
    lines: column("lines", answer.lines, [DataType.UINT8], [rows]),
    terminal: column("terminal", answer.terminal, [DataType.BOOL], [rows]),
    features: optional("features", answer.features, namesFeatures(wanted.features), [DataType.FLOAT32], featureNames.length),
    featureNames,
    afterstates: optional("afterstates", answer.afterstates, wanted.includeAfterstates, [DataType.UINT16, DataType.UINT32], ANY),
    cells: optional("cells", answer.cells, wanted.includeCells, [DataType.INT8], ANY, 2),
    spins: optional("spins", answer.spins, false, [DataType.UINT8]),
    holds: optional("holds", answer.holds, false, [DataType.BOOL]),
    attacks: optional("attacks", answer.attacks, false, [DataType.UINT8]),
    keyOffsets,
    keys,
  };
}

/** Whether a selection of features has any. */
function namesFeatures({ set, features }: NonNullable<PlacementOptions["features"]> = {}): boolean {
  return !!set || !!features?.length;
}

/** How many positions a request holds. */
export function numPositionsOf({ states, drawings, packed }: MessageInitShape<typeof PositionsSchema>): number {
  // Plain numbers by hand may come without a shape.
  return packed === undefined ? (states ?? drawings ?? []).length : (packed.boards?.shape?.[0] ?? ANY);
}
