// Options of `createSession` and `evaluate`: from what callers write to requests.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DurationSchema } from "@bufbuild/protobuf/wkt";

import type { CallOptions } from "./call.js";
import { invalid } from "./errors.js";
import {
  type AutoresetMode,
  type CreateSessionRequestSchema,
  DataType,
  EvaluatePoliciesRequestSchema,
  type InvalidActionPolicy,
  PieceSequencesSchema,
  PROTOCOL_REVISION,
  SeedRangeSchema,
  SessionConfigSchema,
  type Tensor,
  TensorSchema,
  type TerminalValue,
  WeightMatrixSchema,
} from "./protocol.js";
import type { Agent, Expectation, FeaturesLike, Mlp, NTuple, Plain, RulesLike } from "./plain.js";
import { type NumberType, checkMessage, fieldsOf, numbersOf } from "./requests.js";
import { tensor } from "./tensors.js";

/** Options of a new session. */
export interface SessionOptions extends CallOptions {
  /** Number of environments; 1 by default. */
  readonly numEnvs?: number | undefined;
  /** Rules of all environments; the preset `simplified` by default. */
  readonly rules?: RulesLike | undefined;
  /** Names of the observations; the server's default list if absent. */
  readonly observations?: readonly string[] | undefined;
  /** Names of the infos; the server's default list if absent. */
  readonly infos?: readonly string[] | undefined;
  /** Columns of the observation `features`, and the default of `enumeratePlacements`. */
  readonly features?: FeaturesLike | undefined;
  /** What happens after the end of an episode: `next_step` (the default), `same_step` or `disabled`, as in Gymnasium. */
  readonly autoresetMode?: Plain<AutoresetMode> | undefined;
  /** What happens with an action that the mask forbids: `reject` (the default), `terminate` or `ignore`. */
  readonly invalidActionPolicy?: Plain<InvalidActionPolicy> | undefined;
  /** Reward of an ignored action; only with `ignore`. */
  readonly invalidActionReward?: number | undefined;
  /** Session seed, from which every environment gets its own seed. The server draws one by default. */
  readonly seed?: bigint | undefined;
  /** One seed per environment, instead of `seed`. */
  readonly envSeeds?: readonly bigint[] | undefined;
  /** Explicit pieces instead of seeds: a string of the letters IOTZSJL per environment, or one for all. */
  readonly pieceSequences?: readonly string[] | undefined;
  /** Truncates episodes after this many steps; 0, the default, means no limit. */
  readonly maxEpisodeSteps?: bigint | undefined;
  /** Whether answers include action masks; false by default. */
  readonly actionMask?: boolean | undefined;
  /** Largest answer in bytes that the server may send; 4 MiB by default. `connect` needs the same limit. */
  readonly maxResponseBytes?: number | undefined;
  /** Lifetime of the session without calls, in seconds; the server's default if absent. */
  readonly ttl?: number | undefined;
}

/** The field of each option that is a field of `SessionConfig`. */
const SESSION_FIELDS = {
  numEnvs: "numEnvs",
  rules: "rules",
  observations: "observationFields",
  infos: "infoFields",
  features: "features",
  autoresetMode: "autoresetMode",
  invalidActionPolicy: "invalidActionPolicy",
  invalidActionReward: "invalidActionReward",
  seed: "seed",
  envSeeds: "envSeeds",
  pieceSequences: "pieceSequences",
  maxEpisodeSteps: "maxEpisodeSteps",
  actionMask: "actionMask",
  maxResponseBytes: "maxResponseBytes",
} as const satisfies Partial<Record<keyof SessionOptions, string>>;

/** Names of the options of `createSession`, except `signal`. */
export const SESSION_OPTIONS = [...Object.keys(SESSION_FIELDS), "ttl"];

/** The request for a new session. */
export function sessionRequest({ ttl, ...options }: SessionOptions): MessageInitShape<typeof CreateSessionRequestSchema> {
  const config: MessageInitShape<typeof SessionConfigSchema> = fieldsOf(SessionConfigSchema, options, SESSION_FIELDS);
  return { config: { ...config, minRevision: PROTOCOL_REVISION }, ...(ttl !== undefined && { ttl: durationOf("ttl", ttl) }) };
}

/** Seeds drawn from one number: for each j below `count` the j-th one, common to all policies. */
export interface SeedRange {
  /** Any number of 64 bits. */
  readonly seed: bigint;
  /** Number of seeds. */
  readonly count: number;
}

/**
 * What an evaluation plays, and for how long. Either `seeds` or `pieceSequences` must be given. `features`, `terminalValue`, `lookahead`,
 * `expectation`, `mlp` and `nTuple` belong to `weights`, and are refused without it; agents have their own.
 */
export interface EvaluationOptions extends CallOptions {
  /** Names of controllers or agents, or agents with parameters: the policies after the rows of `weights`. */
  readonly controllers?: readonly (string | Agent)[] | undefined;
  /** Weights of linear controllers, `[P, F]`: a row of numbers per policy, or a float64 tensor. A model's parameters follow the weights in each row. */
  readonly weights?: readonly (readonly number[])[] | Tensor | undefined;
  /** Features of the first columns of `weights`. */
  readonly features?: FeaturesLike | undefined;
  /** Score of a placement that ends the game: `avoid` (the default) or `score`. */
  readonly terminalValue?: Plain<TerminalValue> | undefined;
  /** Number of next pieces that the rows of `weights` look ahead; 0 by default. */
  readonly lookahead?: number | undefined;
  /** How the rows of `weights` evaluate what the next pieces can reach; `{}` is the default expectation. Excludes `lookahead`. */
  readonly expectation?: Expectation | undefined;
  /** Network that is added to the weighted sum. */
  readonly mlp?: Mlp | undefined;
  /** Tables that are added to the weighted sum, or that the network reads. */
  readonly nTuple?: NTuple | undefined;
  /** Seeds `[S]` common to all policies, `[P, S]` with a row per policy, or a `SeedRange`. */
  readonly seeds?: readonly bigint[] | readonly (readonly bigint[])[] | SeedRange | undefined;
  /** Explicit pieces instead of seeds, a string per game, common to all policies. */
  readonly pieceSequences?: readonly string[] | undefined;
  /** Rules of all games; the preset `simplified` by default. */
  readonly rules?: RulesLike | undefined;
  /** The `rulesVersion` that the server must have. */
  readonly rulesVersion?: string | undefined;
  /** Episodes per seed; 1 by default. */
  readonly episodesPerSeed?: number | undefined;
  /** Pairs of policy index and seed index; only these games are played. All by default. */
  readonly pairs?: readonly (readonly [policy: number, seed: number])[] | undefined;
  /** Cuts a game after this many pieces; the server's limit by default. */
  readonly maxPieces?: bigint | undefined;
  /** Cuts a game after this many steps; the server's limit by default. */
  readonly maxSteps?: bigint | undefined;
  /** Estimates how long games last, with this many trials at each height, instead of playing them. */
  readonly lossTrials?: number | undefined;
  /** Policy that others are compared with; policy 0 by default. */
  readonly baseline?: number | undefined;
  /** Maximum number of threads; all by default. */
  readonly maxParallelism?: number | undefined;
  /** Seconds between progress messages; 1 by default. */
  readonly progressInterval?: number | undefined;
  /** Whether to send the summary only. */
  readonly omitResults?: boolean | undefined;
  /** Whether to also send the actions of each game. */
  readonly record?: boolean | undefined;
  /** Largest message in bytes that the server may send; 4 MiB by default. `connect` needs the same limit. */
  readonly maxResponseBytes?: number | undefined;
}

/** The field of each option that is a field of `EvaluatePoliciesRequest`. */
const EVALUATION_FIELDS = {
  controllers: "agents",
  rules: "rules",
  rulesVersion: "rulesVersion",
  episodesPerSeed: "episodesPerSeed",
  maxPieces: "maxPieces",
  maxSteps: "maxSteps",
  lossTrials: "lossTrials",
  baseline: "baseline",
  maxParallelism: "maxParallelism",
  omitResults: "omitResults",
  record: "record",
  maxResponseBytes: "maxResponseBytes",
} as const satisfies Partial<Record<keyof EvaluationOptions, string>>;

/** The field of each option that is a field of `WeightMatrix`. */
const MATRIX_FIELDS = { features: "features", terminalValue: "terminalValue", lookahead: "lookahead", expectation: "expectation", mlp: "mlp", nTuple: "nTuple" } as const;

/** Names of the options of `evaluate`, except `signal`. */
export const EVALUATION_OPTIONS = [...Object.keys(EVALUATION_FIELDS), "weights", ...Object.keys(MATRIX_FIELDS), "seeds", "pieceSequences", "pairs", "progressInterval"];

/** The request for an evaluation. */
export function evaluationRequest(options: EvaluationOptions): MessageInitShape<typeof EvaluatePoliciesRequestSchema> {
  const { controllers, weights, seeds, pieceSequences, pairs, progressInterval } = options;
  if ((seeds === undefined) === (pieceSequences === undefined)) {
    throw invalid("seeds", seeds === undefined ? "is absent, expected seeds or pieceSequences" : "is given with pieceSequences, expected one of the two");
  }
  const agents = Array.isArray(controllers) ? controllers.map((controller: unknown) => (typeof controller === "string" ? { name: controller } : controller)) : controllers;
  const matrix: MessageInitShape<typeof WeightMatrixSchema> = fieldsOf(WeightMatrixSchema, options, MATRIX_FIELDS);
  const [alone] = Object.keys(matrix);
  if (weights === undefined && alone !== undefined) {
    throw invalid(alone, `is given without weights, expected weights; an agent has its own: { name: "dt-10", ${alone}: ... }`);
  }
  return {
    ...fieldsOf(EvaluatePoliciesRequestSchema, { ...options, controllers: agents }, EVALUATION_FIELDS),
    ...(weights !== undefined && { weights: { ...matrix, weights: weightsOf(weights) } }),
    games: seeds === undefined ? { case: "pieceSequences", value: fieldsOf(PieceSequencesSchema, { pieceSequences }, { pieceSequences: "sequences" }) } : gamesOf(seeds),
    ...(pairs !== undefined && { pairs: matrixOf("pairs", pairs, DataType.UINT32) }),
    ...(progressInterval !== undefined && { progressInterval: durationOf("progressInterval", progressInterval) }),
    minRevision: PROTOCOL_REVISION,
  };
}

type Games = NonNullable<MessageInitShape<typeof EvaluatePoliciesRequestSchema>["games"]>;

function gamesOf(seeds: NonNullable<EvaluationOptions["seeds"]>): Games {
  if (!Array.isArray(seeds)) {
    checkMessage(SeedRangeSchema, seeds, "seeds");
    return { case: "seedRange", value: seeds as SeedRange };
  }
  const value = Array.isArray(seeds[0]) ? matrixOf("seeds", seeds as bigint[][], DataType.UINT64) : tensor(numbersOf("seeds", seeds as bigint[], DataType.UINT64));
  return { case: "seeds", value };
}

function weightsOf(weights: NonNullable<EvaluationOptions["weights"]>): Tensor {
  if (Array.isArray(weights)) {
    return matrixOf("weights", weights, DataType.FLOAT64);
  }
  checkMessage(TensorSchema, weights, "weights");
  return weights as Tensor;
}

/** Rows of numbers as a tensor. */
function matrixOf(path: string, rows: readonly (readonly (number | bigint)[])[], dtype: NumberType): Tensor {
  const columns = Array.isArray(rows) && Array.isArray(rows[0]) ? rows[0].length : 0;
  if (columns === 0 || !rows.every((row) => Array.isArray(row) && row.length === columns)) {
    throw invalid(path, "is no list of rows of equal length, expected at least one row with at least one number");
  }
  return tensor(numbersOf(path, rows.flat(), dtype), [rows.length, columns]);
}

/** Seconds as a `Duration`. */
function durationOf(name: string, seconds: number): MessageInitShape<typeof DurationSchema> {
  const nanos = typeof seconds === "number" ? Math.round(seconds * 1e9) : NaN;
  if (!Number.isSafeInteger(nanos)) {
    throw invalid(name, `is ${String(seconds)}, expected a number of seconds, at most 9007199`);
  }
  return { seconds: BigInt(Math.trunc(nanos / 1e9)), nanos: nanos % 1e9 };
}
