// Placements: their request, their answer as arrays, and the meaning of their numbers and keys.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { ANY, ascending, column } from "./answers.js";
import type { CallOptions } from "./call.js";
import { type ActionDigits, decodeAction } from "./digits.js";
import { unreadable } from "./errors.js";
import {
  DataType,
  EnumeratePlacementsRequestSchema,
  type EnumeratePlacementsResponse,
  EnumeratePlacementsResponseSchema,
  type Key,
  KeySchema,
  type PositionsSchema,
  RestoreStateRequestSchema,
  type SessionEnvsSchema,
} from "./protocol.js";
import { type Policy, policyOf } from "./options.js";
import { type FeaturesLike, type Positions, fromPlain } from "./plain.js";
import { checkArguments, fieldsOf, int32s } from "./requests.js";
import { type Arrays, type ElementType, tensor } from "./tensors.js";

/** Type and shape of a column, and the option that asks for it: `always` for none, `rules` if the rules decide. */
interface Column {
  readonly dtypes: readonly ElementType[];
  readonly shape: readonly (string | number)[];
  readonly option: string;
}

/** The columns, by their fields in the answer: `[R]` has a number per placement, `[B]` one per position, `[K]` one per key. */
const COLUMNS = {
  /** `[B + 1]`: the rows of position i are `rowOffsets[i]` to `rowOffsets[i + 1] - 1`. */
  rowOffsets: { dtypes: [DataType.INT32], shape: ["B + 1"], option: "always" },
  /** `[R]`: the action for `step`. */
  actions: { dtypes: [DataType.INT32], shape: [ANY], option: "always" },
  /** `[R]`: the number of the placement, which `placementOf` reads. */
  placements: { dtypes: [DataType.INT32], shape: ["R"], option: "always" },
  /** `[R]`: points of the placement. */
  rewards: { dtypes: [DataType.FLOAT32], shape: ["R"], option: "always" },
  /** `[R]`: lines that the placement clears. */
  lines: { dtypes: [DataType.UINT8], shape: ["R"], option: "always" },
  /** `[R]`: 1 if the placement ends the game. */
  terminated: { dtypes: [DataType.BOOL], shape: ["R"], option: "always" },
  /** `[R, F]`: features of each landing, if the call asked for any. */
  features: { dtypes: [DataType.FLOAT32], shape: ["R", "F"], option: "features" },
  /** `[R, height]`: the playfield after the placement, as `board_bits`, with `includeAfterstates`. */
  afterstates: { dtypes: [DataType.UINT16, DataType.UINT32], shape: ["R", "height"], option: "includeAfterstates" },
  /** `[R, 4, 2]`: row and column of the four cells of the landed piece, with `includeCells`. */
  cells: { dtypes: [DataType.INT8], shape: ["R", "C", 2], option: "includeCells" },
  /** `[R, height]`: the playfield with the piece locked and full rows not yet cleared, as `board_bits`, with `includePreclearBoards`. */
  preclearBoards: { dtypes: [DataType.UINT16, DataType.UINT32], shape: ["R", "height"], option: "includePreclearBoards" },
  /** `[R, 2]`: row and column of the landed piece's anchor, with `includeAnchors`. */
  anchors: { dtypes: [DataType.INT8], shape: ["R", 2], option: "includeAnchors" },
  /** `[B, F]`: features of the current playfields, with 0 for features of a landing, with `includePositionFeatures`. */
  positionFeatures: { dtypes: [DataType.FLOAT32], shape: ["B", "F"], option: "includePositionFeatures" },
  /** `[R]`: kind of spin, under rules with spins: 0 none, 1 mini, 2 full. */
  spins: { dtypes: [DataType.UINT8], shape: ["R"], option: "rules" },
  /** `[R]`: 1 if the placement holds the current piece and places the other one, under rules with hold. */
  holds: { dtypes: [DataType.BOOL], shape: ["R"], option: "rules" },
  /** `[R]`: lines that the placement sends, under rules that count them. */
  attacks: { dtypes: [DataType.UINT8], shape: ["R"], option: "rules" },
  /** `[R + 1]`: the keys of row j are `keys[keyOffsets[j]]` to `keys[keyOffsets[j + 1] - 1]`, with `includeKeys`. */
  keyOffsets: { dtypes: [DataType.INT32], shape: ["R + 1"], option: "includeKeys" },
  /** `[K]`: indices into `KEYS`, with `includeKeys`. */
  keys: { dtypes: [DataType.UINT8], shape: ["K"], option: "includeKeys" },
  /**
   * `[R]`: the lines to be expected from the placement on, its own included, for the best player that sees only the current piece,
   * with `includeOptimalValues`. `NaN` for a playfield that no game from the empty one reaches.
   */
  optimalValues: { dtypes: [DataType.FLOAT64], shape: ["R"], option: "includeOptimalValues" },
  /**
   * `[R]`: the value that `policy` gives each placement: its score, or with a search the value that it defines. Minus infinity for a
   * placement that it does not consider, such as one that ends the game.
   */
  policyValues: { dtypes: [DataType.FLOAT64], shape: ["R"], option: "policy" },
  /** `[B]`: the row that `policy` plays, the first of the best; -1 for a position without rows. */
  policyChoices: { dtypes: [DataType.INT32], shape: ["B"], option: "policy" },
} as const satisfies Record<string, Column>;

type Table = typeof COLUMNS;

/** The columns as arrays. */
type Columns = {
  readonly [C in keyof Table]: Arrays[Table[C]["dtypes"][number]] | (Table[C]["option"] extends "always" ? never : undefined);
};

/** R placements of B positions. */
export interface Placements extends Columns {
  /** The digits of these numbers. */
  readonly placementDigits: ActionDigits;
  /** `[F]`: the names of the features. */
  readonly featureNames: readonly string[];
}

/** The options that are flags of the request. */
type Flags = { readonly [O in Table[keyof Table]["option"] as Extract<O, `include${string}`>]?: boolean | undefined };

/** Options of a call for placements. Flags include columns of `Placements`. */
export interface PlacementOptions extends CallOptions, Flags {
  /** Features to compute: the name of a set, or a list such as `["holes", "bumpiness"]`. */
  readonly features?: FeaturesLike | undefined;
  /** A policy that scores placements, such as `"dt-10"` or `{ formula: "-holes" }`: what it makes of each placement. Not with `actions`. */
  readonly policy?: string | Policy | undefined;
  /** `[B]`: one action per position. The answer has only the placements of these actions, for example for their keys. */
  readonly actions?: Int32Array | readonly number[] | undefined;
}

const OPTIONS = [...new Set(Object.values(COLUMNS).map(({ option }) => option))].filter((option) => option !== "always" && option !== "rules");

/** Names of these options, except `signal`. */
export const PLACEMENT_OPTIONS = [...OPTIONS, "actions"];

/** The name of a key. */
export type KeyName = Lowercase<keyof typeof Key>;

/** The names of keys by their numbers; all but `far_left` and `far_right` are actions of games of keys. */
export const KEYS = KeySchema.values.map(({ localName }) => localName.toLowerCase() as KeyName);

/**
 * The keys that take the piece of a row to its placement, in order: a shortest list. It is empty if the shortest list has more
 * than `MessageLimits.maxKeys` keys, as in a maze.
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
 * The placement of a row.
 *
 * @throws TypeError if there is no such row.
 */
export function placementOf({ placements, placementDigits }: Placements, row: number): Placement {
  const number = Number.isInteger(row) ? placements[row] : undefined;
  if (number === undefined) {
    throw new TypeError(`row ${row} is not one of ${placements.length} placements`);
  }
  const { orientation = 0, column = 0, row: lowest, spin = 0, hold } = decodeAction(placementDigits, number);
  return { orientation, column, row: lowest, spin, hold: hold === 1 };
}

/** Source of the positions. */
type Source =
  | { case: "sessionEnvs"; value: MessageInitShape<typeof SessionEnvsSchema> }
  | { case: "positions"; value: MessageInitShape<typeof PositionsSchema> };

/** The request. */
export function placementsRequest(source: Source, options: PlacementOptions): MessageInitShape<typeof EnumeratePlacementsRequestSchema> {
  const { actions, policy } = options;
  const given = { ...options, policy: policy === undefined ? policy : policyOf(policy, "policy") };
  return { ...fieldsOf(EnumeratePlacementsRequestSchema, given, Object.fromEntries(OPTIONS.map((option) => [option, option]))), source, ...(actions !== undefined && { actions: tensor(int32s("actions", actions)) }) };
}

/** The message for positions. */
export function positionsOf(positions: Positions): MessageInitShape<typeof PositionsSchema> {
  const field = RestoreStateRequestSchema.field.positions;
  const message = fromPlain(field, positions);
  checkArguments(RestoreStateRequestSchema, { positions: message });
  return message as MessageInitShape<typeof PositionsSchema>;
}

/** The answer for `numPositions` positions, as arrays. */
export function placementsOf(answer: EnumeratePlacementsResponse, numPositions: number, wanted: PlacementOptions): Placements {
  const [B, R] = [(answer.rowOffsets?.shape[0] ?? 1) - 1, answer.actions?.shape[0] ?? 0];
  const featureNames = answer.featureColumns?.names ?? [];
  const lengths: Record<string, number> = { B, "B + 1": numPositions === ANY ? ANY : numPositions + 1, R, "R + 1": R + 1, F: featureNames.length };
  const names = Object.keys(COLUMNS) as (keyof Table)[];
  const columns = Object.fromEntries(names.map((name) => {
    const { dtypes, shape, option }: Column = COLUMNS[name];
    const asked = wanted[option as keyof PlacementOptions];
    const isWanted = option === "always" || (asked !== undefined && asked !== false);
    const expected = shape.map((length) => (typeof length === "string" ? lengths[length] ?? ANY : length));
    const isThere = isWanted || answer[name] !== undefined;
    return [name, isThere ? column(EnumeratePlacementsResponseSchema.field[name].name, answer[name], dtypes, expected) : undefined];
  })) as unknown as Columns;
  const { rowOffsets, keyOffsets, keys } = columns;
  ascending("row_offsets", rowOffsets, R);
  if (keyOffsets !== undefined && keys !== undefined) {
    ascending("key_offsets", keyOffsets, keys.length);
    if (keys.some((key) => key >= KEYS.length)) {
      throw unreadable("keys hold a number that is no key");
    }
  }
  return { ...columns, placementDigits: answer.placementDigits, featureNames };
}

/** Number of positions in a request. */
export function numPositionsOf({ kind }: MessageInitShape<typeof PositionsSchema>): number {
  switch (kind?.case) {
    case "snapshots":
      return kind.value.states?.length ?? 0;
    case "drawings":
      return kind.value.drawings?.length ?? 0;
    case "packed":
      return kind.value.boards?.shape?.[0] ?? ANY; // plain numbers may lack a shape
    default:
      return 0;
  }
}
