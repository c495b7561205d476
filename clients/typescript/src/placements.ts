// Placements: their request, their answer as arrays, and the meaning of their numbers and keys.
//
// The server knows which placements exist. This file numbers them as rules.proto does.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { ANY, ascending, column } from "./answers.js";
import type { CallOptions } from "./call.js";
import { unreadable } from "./errors.js";
import {
  DataType,
  EnumeratePlacementsRequestSchema,
  type EnumeratePlacementsResponse,
  type Key,
  KeySchema,
  type PositionsSchema,
  PROTOCOL_REVISION,
  Reach,
  RestoreStateRequestSchema,
  type Rules,
  type SessionEnvsSchema,
  SpinRule,
  type Tensor,
} from "./protocol.js";
import type { FeaturesLike, Positions } from "./plain.js";
import { fieldsOf, int32s } from "./requests.js";
import { type ElementType, tensor } from "./tensors.js";

/** Options of a call for placements. */
export interface PlacementOptions extends CallOptions {
  /** Features to compute: the name of a set, or a list such as `["holes", "bumpiness"]`. */
  readonly features?: FeaturesLike | undefined;
  /** Whether to include the playfield after each placement. */
  readonly includeAfterstates?: boolean | undefined;
  /** Whether to include the cells of each landed piece. */
  readonly includeCells?: boolean | undefined;
  /** Whether to include the keys to each placement, for `keysOf`. Rules with straight drops have none. */
  readonly includeKeys?: boolean | undefined;
  /** `[B]`: one action per position. The answer has only the placements of these actions, for example for their keys. */
  readonly actions?: Int32Array | readonly number[] | undefined;
}

/** The field of each option that is a field of the request. */
const FIELDS = { features: "features", includeAfterstates: "includeAfterstates", includeCells: "includeCells", includeKeys: "includeKeys" } as const satisfies Partial<Record<keyof PlacementOptions, string>>;

/** Names of these options, except `signal`. */
export const PLACEMENT_OPTIONS = [...Object.keys(FIELDS), "actions"];

/** R placements of B positions. */
export interface Placements {
  /** `[B + 1]`: the rows of position i are `rowOffsets[i]` to `rowOffsets[i + 1] - 1`. */
  readonly rowOffsets: Uint32Array;
  /** `[R]`: the action for `step`. */
  readonly actions: Int32Array;
  /** `[R]`: the number of the placement, which `placementOf` reads. */
  readonly placements: Int32Array;
  /** `[R]`: points of the placement. */
  readonly rewards: Float32Array;
  /** `[R]`: lines that the placement clears. */
  readonly lines: Uint8Array;
  /** `[R]`: 1 if the placement ends the game. */
  readonly terminated: Uint8Array;
  /** `[R, F]`: features of each landing, if the call asked for any. */
  readonly features: Float32Array | undefined;
  /** `[F]`: the names of the features. */
  readonly featureNames: readonly string[];
  /** `[R, height]`: the playfield after the placement, as `board_bits`, with `includeAfterstates`. */
  readonly afterstates: Uint16Array | Uint32Array | undefined;
  /** `[R, 4, 2]`: row and column of the four cells of the landed piece, with `includeCells`. */
  readonly cells: Int8Array | undefined;
  /** `[R]`: kind of spin, under rules with spins: 0 none, 1 mini, 2 full. */
  readonly spins: Uint8Array | undefined;
  /** `[R]`: 1 if the placement holds the current piece and places the other one, under rules with hold. */
  readonly holds: Uint8Array | undefined;
  /** `[R]`: lines that the placement sends, under rules that count them. */
  readonly attacks: Uint8Array | undefined;
  /** `[R + 1]`: the keys of row j are `keys[keyOffsets[j]]` to `keys[keyOffsets[j + 1] - 1]`, with `includeKeys`. */
  readonly keyOffsets: Uint32Array | undefined;
  /** `[K]`: indices into `KEYS`, with `includeKeys`. */
  readonly keys: Uint8Array | undefined;
}

/** The name of a key. */
export type KeyName = Lowercase<keyof typeof Key>;

/** The names of keys by their numbers; all but `far_left` and `far_right` are actions of games of keys. */
export const KEYS = KeySchema.values.map(({ localName }) => localName.toLowerCase() as KeyName);

/**
 * The keys that take the piece of a row to its placement, in order: a shortest list. It is empty if the shortest list has more
 * than `Limits.maxKeys` keys, as in a maze.
 *
 * @throws TypeError if the call did not ask for keys, or if there is no such row.
 */
export function keysOf({ actions, keyOffsets, keys }: Placements, row: number): KeyName[] {
  if (keyOffsets === undefined || keys === undefined) {
    throw new TypeError("no keys were asked for: expected enumeratePlacements({ includeKeys: true })");
  }
  if (!Number.isInteger(row) || row < 0 || row >= actions.length) {
    throw new TypeError(`row ${row} is not one of ${actions.length} placements`);
  }
  return [...keys.subarray(keyOffsets[row], keyOffsets[row + 1])].map((key) => KEYS[key]!);
}

/** A placement, as its number encodes it. */
export interface Placement {
  /** Orientation of the piece, a number of the rules' orientation table. */
  readonly orientation: number;
  /** Column of the piece's leftmost cell. */
  readonly column: number;
  /** Row of the piece's lowest cell; undefined under rules with straight drops, where the column determines it. */
  readonly row: number | undefined;
  /** Kind of spin: 0 none, 1 mini, 2 full. */
  readonly spin: number;
  /** Whether the placement holds the current piece and places the other one. */
  readonly hold: boolean;
}

/**
 * Decodes the number of a placement. The rules need every field, as in `session.rules`.
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
 * Encodes a placement as its number. The rules need every field, as in `session.rules`. The placement may not exist in a given position.
 *
 * @throws TypeError if a field is missing from the rules, or if a field of the placement is out of range.
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

/** Factors of a placement's number: columns, rows that a piece can land in, kinds of spin, and pieces to choose between. */
function basesOf(rules: Rules): { width: number; rows: number; labels: number; hands: number; namesSpots: boolean } {
  const [width, height, rowsAbove] = [fieldOf(rules, "width"), fieldOf(rules, "height"), fieldOf(rules, "rowsAbove")];
  const namesSpots = fieldOf(rules, "reach") === Reach.MOVES;
  const tellsSpins = fieldOf(rules, "spinRule") !== SpinRule.NONE;
  const hands = fieldOf(rules, "hold") ? 2 : 1;
  return { width, rows: namesSpots ? Math.min(height + 1, height - rowsAbove + 4) : 1, labels: namesSpots && tellsSpins ? 3 : 1, hands, namesSpots };
}

/** A field that rules must have. The preset's value instead of a missing one would be the number of another game. */
function fieldOf<Name extends "width" | "height" | "rowsAbove" | "reach" | "spinRule" | "hold">(rules: Rules, name: Name): NonNullable<Rules[Name]> {
  const value = rules[name];
  // 0 of an enum is no value.
  if (value === undefined || ((name === "reach" || name === "spinRule") && value === 0)) {
    throw new TypeError(`rules.${name} is ${value}, expected rules with every field, as session.rules has them`);
  }
  return value;
}

/** Checks that a number is an integer from 0 to `count - 1`. */
function check(name: string, value: number | undefined, count: number): void {
  if (value === undefined || !Number.isInteger(value) || value < 0 || value >= count) {
    throw new TypeError(`${name} is ${value}, expected ${count === 1 ? 0 : `an integer from 0 to ${count - 1}`}`);
  }
}

/** Source of the positions. */
type Source =
  | { case: "sessionEnvs"; value: MessageInitShape<typeof SessionEnvsSchema> }
  | { case: "positions"; value: MessageInitShape<typeof PositionsSchema> };

/** The request. */
export function placementsRequest(source: Source, options: PlacementOptions): MessageInitShape<typeof EnumeratePlacementsRequestSchema> {
  const { actions } = options;
  return { ...fieldsOf(EnumeratePlacementsRequestSchema, options, FIELDS), source, minRevision: PROTOCOL_REVISION, ...(actions !== undefined && { actions: tensor(int32s("actions", actions)) }) };
}

/** The message for positions. */
export function positionsOf(positions: Positions): MessageInitShape<typeof PositionsSchema> {
  return fieldsOf(RestoreStateRequestSchema, { positions }, { positions: "positions" })["positions"] as MessageInitShape<typeof PositionsSchema>;
}

/** The answer for `numPositions` positions, as arrays. */
export function placementsOf(answer: EnumeratePlacementsResponse, numPositions: number, wanted: PlacementOptions): Placements {
  const rowOffsets = column("row_offsets", answer.rowOffsets, [DataType.UINT32], [numPositions === ANY ? ANY : numPositions + 1]);
  const actions = column("actions", answer.actions, [DataType.INT32], [ANY]);
  const rows = actions.length;
  ascending("row_offsets", rowOffsets, rows);
  const featureNames = answer.featureColumns?.names ?? [];
  /** A tensor that the answer has only if the call asked for it, or if the rules have it. */
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
    rowOffsets,
    actions,
    placements: column("placements", answer.placements, [DataType.INT32], [rows]),
    rewards: column("rewards", answer.rewards, [DataType.FLOAT32], [rows]),
    lines: column("lines", answer.lines, [DataType.UINT8], [rows]),
    terminated: column("terminated", answer.terminated, [DataType.BOOL], [rows]),
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
function namesFeatures(selection: FeaturesLike = {}): boolean {
  const { featureSet, features } = typeof selection === "string" ? { featureSet: selection } : "length" in selection ? { features: selection } : selection;
  return !!featureSet || !!features?.length;
}

/** Number of positions in a request. */
export function numPositionsOf({ states, drawings, packed }: MessageInitShape<typeof PositionsSchema>): number {
  // Values that are written as plain numbers may lack a shape.
  return packed === undefined ? (states ?? drawings ?? []).length : (packed.boards?.shape?.[0] ?? ANY);
}
