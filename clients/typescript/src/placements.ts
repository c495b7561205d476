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
  type Key,
  KeySchema,
  type PositionsSchema,
  RestoreStateRequestSchema,
  type SessionEnvsSchema,
  type Tensor,
} from "./protocol.js";
import { type Policy, policyOf } from "./options.js";
import { type FeaturesLike, type Positions, fromPlain } from "./plain.js";
import { checkArguments, fieldsOf, int32s } from "./requests.js";
import { type ElementType, tensor } from "./tensors.js";

/** Options of a call for placements. */
export interface PlacementOptions extends CallOptions {
  /** Features to compute: the name of a set, or a list such as `["holes", "bumpiness"]`. */
  readonly features?: FeaturesLike | undefined;
  /** Whether to include the playfield after each placement. */
  readonly includeAfterstates?: boolean | undefined;
  /** Whether to include the cells of each landed piece. */
  readonly includeCells?: boolean | undefined;
  /** Whether to include the playfield with each piece locked, before full rows are cleared. */
  readonly includePreclearBoards?: boolean | undefined;
  /** Whether to include where the anchor of each landed piece is. */
  readonly includeAnchors?: boolean | undefined;
  /** Whether to include the features of the current playfields. Needs `features`. */
  readonly includePositionFeatures?: boolean | undefined;
  /** Whether to include the keys to each placement, for `keysOf`. Rules with straight drops have none. */
  readonly includeKeys?: boolean | undefined;
  /** Whether to include the exact value of each placement, under rules for which the server knows them. */
  readonly includeOptimalValues?: boolean | undefined;
  /** A policy that scores placements, such as `"dt-10"` or `{ formula: "-holes" }`: what it makes of each placement. Not with `actions`. */
  readonly policy?: string | Policy | undefined;
  /** `[B]`: one action per position. The answer has only the placements of these actions, for example for their keys. */
  readonly actions?: Int32Array | readonly number[] | undefined;
}

/** The field of each option that is a field of the request. */
const FIELDS = {
  features: "features",
  includeAfterstates: "includeAfterstates",
  includeCells: "includeCells",
  includePreclearBoards: "includePreclearBoards",
  includeAnchors: "includeAnchors",
  includePositionFeatures: "includePositionFeatures",
  includeKeys: "includeKeys",
  includeOptimalValues: "includeOptimalValues",
  policy: "policy",
} as const satisfies Partial<Record<keyof PlacementOptions, string>>;

/** Names of these options, except `signal`. */
export const PLACEMENT_OPTIONS = [...Object.keys(FIELDS), "actions"];

/** R placements of B positions. */
export interface Placements {
  /** `[B + 1]`: the rows of position i are `rowOffsets[i]` to `rowOffsets[i + 1] - 1`. */
  readonly rowOffsets: Int32Array;
  /** `[R]`: the action for `step`. */
  readonly actions: Int32Array;
  /** `[R]`: the number of the placement, which `placementOf` reads. */
  readonly placements: Int32Array;
  /** The digits of these numbers. */
  readonly placementDigits: ActionDigits;
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
  /** `[R, height]`: the playfield with the piece locked and full rows not yet cleared, as `board_bits`, with `includePreclearBoards`. */
  readonly preclearBoards: Uint16Array | Uint32Array | undefined;
  /** `[R, 2]`: row and column of the landed piece's anchor, with `includeAnchors`. */
  readonly anchors: Int8Array | undefined;
  /** `[B, F]`: features of the current playfields, with 0 for features of a landing, with `includePositionFeatures`. */
  readonly positionFeatures: Float32Array | undefined;
  /** `[R]`: kind of spin, under rules with spins: 0 none, 1 mini, 2 full. */
  readonly spins: Uint8Array | undefined;
  /** `[R]`: 1 if the placement holds the current piece and places the other one, under rules with hold. */
  readonly holds: Uint8Array | undefined;
  /** `[R]`: lines that the placement sends, under rules that count them. */
  readonly attacks: Uint8Array | undefined;
  /** `[R + 1]`: the keys of row j are `keys[keyOffsets[j]]` to `keys[keyOffsets[j + 1] - 1]`, with `includeKeys`. */
  readonly keyOffsets: Int32Array | undefined;
  /** `[K]`: indices into `KEYS`, with `includeKeys`. */
  readonly keys: Uint8Array | undefined;
  /**
   * `[R]`: the lines to be expected from the placement on, its own included, for the best player that sees only the current piece,
   * with `includeOptimalValues`. `NaN` for a playfield that no game from the empty one reaches.
   */
  readonly optimalValues: Float64Array | undefined;
  /**
   * `[R]`: the value that `policy` gives each placement: its score, or with a search the value that it defines. Minus infinity for a
   * placement that it does not consider, such as one that ends the game.
   */
  readonly policyValues: Float64Array | undefined;
  /** `[B]`: the row that `policy` plays, the first of the best; -1 for a position without rows. */
  readonly policyChoices: Int32Array | undefined;
}

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
  return { ...fieldsOf(EnumeratePlacementsRequestSchema, given, FIELDS), source, ...(actions !== undefined && { actions: tensor(int32s("actions", actions)) }) };
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
  const rowOffsets = column("row_offsets", answer.rowOffsets, [DataType.INT32], [numPositions === ANY ? ANY : numPositions + 1]);
  const actions = column("actions", answer.actions, [DataType.INT32], [ANY]);
  const rows = actions.length;
  ascending("row_offsets", rowOffsets, rows);
  const featureNames = answer.featureColumns?.names ?? [];
  /** A tensor that the answer has only if the call asked for it, or if the rules have it. */
  const optional = <D extends ElementType>(name: string, tensor: Tensor | undefined, isWanted: unknown, dtypes: readonly D[], ...shape: readonly number[]) =>
    tensor === undefined && !isWanted ? undefined : column(name, tensor, dtypes, [rows, ...shape]);
  const keyOffsets = wanted.includeKeys ? column("key_offsets", answer.keyOffsets, [DataType.INT32], [rows + 1]) : undefined;
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
    placementDigits: answer.placementDigits,
    rewards: column("rewards", answer.rewards, [DataType.FLOAT32], [rows]),
    lines: column("lines", answer.lines, [DataType.UINT8], [rows]),
    terminated: column("terminated", answer.terminated, [DataType.BOOL], [rows]),
    features: optional("features", answer.features, wanted.features !== undefined, [DataType.FLOAT32], featureNames.length),
    featureNames,
    afterstates: optional("afterstates", answer.afterstates, wanted.includeAfterstates, [DataType.UINT16, DataType.UINT32], ANY),
    cells: optional("cells", answer.cells, wanted.includeCells, [DataType.INT8], ANY, 2),
    preclearBoards: optional("preclear_boards", answer.preclearBoards, wanted.includePreclearBoards, [DataType.UINT16, DataType.UINT32], ANY),
    anchors: optional("anchors", answer.anchors, wanted.includeAnchors, [DataType.INT8], 2),
    positionFeatures: wanted.includePositionFeatures ? column("position_features", answer.positionFeatures, [DataType.FLOAT32], [rowOffsets.length - 1, featureNames.length]) : undefined,
    spins: optional("spins", answer.spins, false, [DataType.UINT8]),
    holds: optional("holds", answer.holds, false, [DataType.BOOL]),
    attacks: optional("attacks", answer.attacks, false, [DataType.UINT8]),
    keyOffsets,
    keys,
    optimalValues: optional("optimal_values", answer.optimalValues, wanted.includeOptimalValues, [DataType.FLOAT64]),
    policyValues: optional("policy_values", answer.policyValues, wanted.policy, [DataType.FLOAT64]),
    policyChoices: wanted.policy === undefined ? undefined : column("policy_choices", answer.policyChoices, [DataType.INT32], [rowOffsets.length - 1]),
  };
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
