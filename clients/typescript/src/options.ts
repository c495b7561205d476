// Options of `createSession` and `evaluate`: from what callers write to requests.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DurationSchema } from "@bufbuild/protobuf/wkt";

import type { CallOptions } from "./call.js";
import { invalid } from "./errors.js";
import {
  ActionMaskFormat,
  type AutoresetMode,
  type CreateSessionRequestSchema,
  DataType,
  EvaluatePoliciesRequestSchema,
  type InvalidActionPolicy,
  SessionConfigSchema,
  type Tensor,
  type Weights as WeightsMessage,
} from "./protocol.js";
import type { FeaturesLike, Plain, PlainPolicy, RulesLike } from "./plain.js";
import { type NumberType, fieldsOf, numbersOf } from "./requests.js";
import { type DrawnSeeds, type Seeding, seedingOf } from "./seeding.js";
import { tensor } from "./tensors.js";

/** Options of a new session. */
export interface SessionOptions extends CallOptions {
  /** Number of environments; 1 by default. */
  readonly numEnvs?: number | undefined;
  /** Rules of all environments; the preset `simplified` by default. */
  readonly rules?: RulesLike | undefined;
  /** Names of the observations: none if empty, the server's default list if absent. */
  readonly observations?: readonly string[] | undefined;
  /** Names of the infos: none if empty, the server's default list if absent. */
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
  readonly envSeeds?: readonly bigint[] | DrawnSeeds | undefined;
  /** Explicit pieces instead of seeds: a string of the letters IOTZSJL per environment, or one for all. */
  readonly pieceSequences?: readonly string[] | undefined;
  /** With `pieceSequences` and under rules with garbage: the columns of the holes, in the order in which lines get them, a list per string. */
  readonly holeColumns?: readonly (readonly number[])[] | undefined;
  /** Truncates episodes after this many steps; 0, the default, means no limit. */
  readonly maxEpisodeSteps?: bigint | undefined;
  /** Whether answers include action masks; false by default. */
  readonly actionMask?: boolean | undefined;
  /** Largest answer in bytes that the server may send; 4 MiB by default. `connect` needs the same limit. */
  readonly maxResponseBytes?: number | undefined;
  /** A name for people, such as `ppo lr 3e-4`, at most 128 bytes: viewers and lists show it. */
  readonly label?: string | undefined;
  /** Whether a person looks at the session where it was created: other viewers then do not choose it by themselves. */
  readonly interactive?: boolean | undefined;
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
  maxEpisodeSteps: "maxEpisodeSteps",
  maxResponseBytes: "maxResponseBytes",
  label: "label",
  interactive: "interactive",
} as const satisfies Partial<Record<keyof SessionOptions, string>>;

/** Names of the options of `createSession`, except `signal`. */
export const SESSION_OPTIONS = [...Object.keys(SESSION_FIELDS), "actionMask", "seed", "envSeeds", "pieceSequences", "holeColumns", "ttl"];

/** The message for names of fields; absent for the server's default. */
function names<T>(list: T): { names: T } | undefined {
  return list === undefined ? undefined : { names: list };
}

/** The request for a new session. */
export function sessionRequest({ actionMask, ttl, observations, infos, ...options }: SessionOptions, minRevision: number): MessageInitShape<typeof CreateSessionRequestSchema> {
  if (actionMask !== undefined && typeof actionMask !== "boolean") {
    throw invalid("actionMask", `is ${JSON.stringify(actionMask)}, expected true or false`);
  }
  const actionMaskFormat = actionMask ? ActionMaskFormat.BITS : ActionMaskFormat.NONE;
  const config: MessageInitShape<typeof SessionConfigSchema> = { ...fieldsOf(SessionConfigSchema, { ...options, observations: names(observations), infos: names(infos) }, SESSION_FIELDS), ...seedingOf(options, "envSeeds"), actionMaskFormat, minRevision };
  return { config, ...(ttl !== undefined && { ttl: durationOf("ttl", ttl) }) };
}

/** Weights of one policy or of several, with the features and the model that they are for. */
export type Weights = Omit<Plain<WeightsMessage>, "weights"> & {
  /** `[F]`, or `[P, F]` for P policies: numbers, or a tensor of float64 or float32. A model's parameters follow the weights in each row. */
  readonly weights: readonly number[] | readonly (readonly number[])[] | Tensor;
};

/** A policy: one of the server's by its name, or weights, or a formula, or `monteCarlo`. */
export type Policy = Omit<PlainPolicy, "weights" | "formula"> & {
  /** Weights instead of a name. */
  readonly weights?: Weights | undefined;
  /** A score for each placement as text, instead of a name, such as `-4*holes - max_height^2`. */
  readonly formula?: string | PlainPolicy["formula"];
};

/** What an evaluation plays, and for how long. Either `seeds` or `pieceSequences` must be given. */
export interface EvaluationOptions extends CallOptions {
  /** Policies, each by its name or with its settings. */
  readonly policies?: readonly (string | Policy)[] | undefined;
  /** Seeds `[S]` common to all policies, `[P, S]` with a row per policy, or `DrawnSeeds`. */
  readonly seeds?: readonly bigint[] | readonly (readonly bigint[])[] | DrawnSeeds | undefined;
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
  /** Estimates how long games last, with so many trials at each height, instead of playing them: the events are `estimates` instead of `results`. */
  readonly lossEstimation?: { readonly trials: number } | undefined;
  /** With rules of two players, the policy that all others play against: episode k of a seed is a match on side k modulo 2. */
  readonly opponent?: string | Policy | undefined;
  /** Policy that others are compared with; policy 0 by default. */
  readonly baseline?: number | undefined;
  /** Maximum number of threads; all by default. */
  readonly maxParallelism?: number | undefined;
  /** Seconds between progress messages; 1 by default. */
  readonly progressInterval?: number | undefined;
  /** Whether to send the games, or the estimates; true by default. False: the summary only. */
  readonly includeResults?: boolean | undefined;
  /** Whether to also send a recording of each game. */
  readonly includeRecordings?: boolean | undefined;
  /** Largest message in bytes that the server may send; 4 MiB by default. `connect` needs the same limit. */
  readonly maxResponseBytes?: number | undefined;
}

/** The field of each option that is a field of `EvaluatePoliciesRequest`. */
const EVALUATION_FIELDS = {
  rules: "rules",
  rulesVersion: "rulesVersion",
  episodesPerSeed: "episodesPerSeed",
  maxPieces: "maxPieces",
  maxSteps: "maxSteps",
  lossEstimation: "lossEstimation",
  baseline: "baseline",
  maxParallelism: "maxParallelism",
  includeResults: "includeResults",
  includeRecordings: "includeRecordings",
  maxResponseBytes: "maxResponseBytes",
} as const satisfies Partial<Record<keyof EvaluationOptions, string>>;

/** Names of the options of `evaluate`, except `signal`. */
export const EVALUATION_OPTIONS = [...Object.keys(EVALUATION_FIELDS), "policies", "seeds", "pieceSequences", "pairs", "progressInterval", "opponent"];

/** The request for an evaluation. */
export function evaluationRequest(options: EvaluationOptions, minRevision: number): MessageInitShape<typeof EvaluatePoliciesRequestSchema> {
  const { policies, pairs, progressInterval, opponent, includeResults = true } = options;
  const given = Array.isArray(policies) ? policies.map((policy: unknown, at) => policyOf(policy, `policies[${at}]`)) : policies;
  return {
    ...fieldsOf(
      EvaluatePoliciesRequestSchema,
      { ...options, includeResults, policies: given, opponent: opponent === undefined ? opponent : policyOf(opponent, "opponent") },
      { ...EVALUATION_FIELDS, policies: "policies", opponent: "opponent" },
    ),
    seeding: evaluationSeeding(options),
    ...(pairs !== undefined && { pairs: matrixOf("pairs", pairs, DataType.INT32) }),
    ...(progressInterval !== undefined && { progressInterval: durationOf("progressInterval", progressInterval) }),
    minRevision,
  };
}

/** Where the pieces of an evaluation come from. */
function evaluationSeeding(options: EvaluationOptions): Seeding {
  const { seeds } = options;
  const perPolicy = Array.isArray(seeds) && Array.isArray(seeds[0]);
  if (perPolicy) {
    checkRows("seeds", seeds as bigint[][]);
  }
  const { seeding } = seedingOf(perPolicy ? { ...options, seeds: seeds.flat(), perPolicy } : options, "seeds");
  if (seeding === undefined) {
    throw invalid("seeds", "is absent, expected seeds or pieceSequences");
  }
  return seeding;
}

/** A policy as a plain object, its weights as a tensor and its formula as a message. */
export function policyOf(policy: unknown, path: string): unknown {
  if (typeof policy === "string") {
    return { name: policy };
  }
  const { weights, formula } = (policy ?? {}) as { weights?: { weights?: unknown } | null; formula?: unknown };
  if (typeof formula === "string") {
    return { ...(policy as object), formula: { text: formula } };
  }
  const numbers = weights?.weights;
  return Array.isArray(numbers) ? { ...(policy as object), weights: { ...weights, weights: weightsOf(numbers, `${path}.weights.weights`) } } : policy;
}

function weightsOf(numbers: readonly number[] | readonly (readonly number[])[], path: string): Tensor {
  return Array.isArray(numbers[0]) ? matrixOf(path, numbers as number[][], DataType.FLOAT64) : tensor(numbersOf(path, numbers as number[], DataType.FLOAT64));
}

/** Rows of numbers as a tensor. */
function matrixOf(path: string, rows: readonly (readonly number[])[], dtype: NumberType): Tensor {
  const columns = checkRows(path, rows);
  return tensor(numbersOf(path, rows.flat(), dtype), [rows.length, columns]);
}

/** Checks that all rows have the same length, which is at least 1, and returns it. */
function checkRows(path: string, rows: readonly (readonly unknown[])[]): number {
  const columns = Array.isArray(rows) && Array.isArray(rows[0]) ? rows[0].length : 0;
  if (columns === 0 || !rows.every((row) => Array.isArray(row) && row.length === columns)) {
    throw invalid(path, "is no list of rows of equal length, expected at least one row with at least one number");
  }
  return columns;
}

/** Seconds as a `Duration`. */
function durationOf(name: string, seconds: number): MessageInitShape<typeof DurationSchema> {
  const nanos = typeof seconds === "number" ? Math.round(seconds * 1e9) : NaN;
  if (!Number.isSafeInteger(nanos)) {
    throw invalid(name, `is ${String(seconds)}, expected a number of seconds, at most 9007199`);
  }
  return { seconds: BigInt(Math.trunc(nanos / 1e9)), nanos: nanos % 1e9 };
}
