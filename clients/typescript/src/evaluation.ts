// Checks the events of an evaluation against its request: each requested game, or estimate, must come once, and no other.

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import { ANY, agree, column } from "./answers.js";
import { unreadable } from "./errors.js";
import {
  DataType,
  type EvaluatePoliciesRequestSchema,
  type EvaluatePoliciesResponse,
  type EvaluationEstimates,
  type EvaluationRecording,
  type EvaluationResults,
  type EvaluationStarted,
  type EvaluationSummary,
  type Tensor,
  TensorSchema,
} from "./protocol.js";
import { type Arrays, type ElementType, elements, elementsOf, zeros } from "./tensors.js";

type Request = MessageInitShape<typeof EvaluatePoliciesRequestSchema>;
type TensorInit = MessageInitShape<typeof TensorSchema>;

/** A message of an evaluation. */
export type EvaluationEvent = Exclude<EvaluatePoliciesResponse["event"], { case: undefined }>;

/** What the games and the estimates of an evaluation have in common, one element per game in each array. */
interface Rows {
  /** Index of the policy, in the order of `policies`; each row of weights is one. */
  readonly policyIndices: Int32Array;
  /** Index of the seed, or of the piece sequence. */
  readonly seedIndices: Int32Array;
  /** Episode of the seed. */
  readonly episodeIndices: Int32Array;
  /** The episode seed, with which `reset` replays the game; 0 for piece sequences. */
  readonly seeds: BigUint64Array;
}

/** Games of an evaluation, one element per game in each array. */
export interface Games extends Rows {
  /** Cleared lines. */
  readonly lines: Float64Array;
  /** Landed pieces. */
  readonly pieces: Float64Array;
  /** Steps. */
  readonly steps: Float64Array;
  /** Points. */
  readonly scores: Float64Array;
  /** Why each game ended: a number of `EpisodeEnd`. */
  readonly ends: Uint8Array;
}

/** Estimates of how long games last, one element per estimate in each array. */
export interface Estimates extends Rows {
  /** Losses per piece. */
  readonly lossRates: Float64Array;
  /** Cleared lines per piece. */
  readonly linesPerPiece: Float64Array;
  /** Steps per piece. */
  readonly stepsPerPiece: Float64Array;
  /** Points per piece. */
  readonly scorePerPiece: Float64Array;
  /** 1 if games last longer than the estimate. */
  readonly lastsLonger: Uint8Array;
}

/** A finished evaluation. */
export interface Evaluation {
  /** The games in the order of policy, seed and episode. None without `includeResults`. */
  readonly games: Games;
  /** Means and intervals per policy, and paired differences. */
  readonly summary: EvaluationSummary;
}

/** A finished estimation. */
export interface Estimation {
  /** The estimates in the order of policy, seed and episode. None without `includeResults`. */
  readonly estimates: Estimates;
  /** Means and intervals per policy, in `estimates`. */
  readonly summary: EvaluationSummary;
}

const ROWS = {
  policyIndices: DataType.INT32,
  seedIndices: DataType.INT32,
  episodeIndices: DataType.INT32,
  seeds: DataType.UINT64,
} as const satisfies Record<keyof Rows, ElementType>;

const GAMES = {
  ...ROWS,
  lines: DataType.INT64,
  pieces: DataType.INT64,
  steps: DataType.INT64,
  scores: DataType.FLOAT64,
  ends: DataType.UINT8,
} as const satisfies Record<keyof Games, ElementType>;

const ESTIMATES = {
  ...ROWS,
  lossRates: DataType.FLOAT64,
  linesPerPiece: DataType.FLOAT64,
  stepsPerPiece: DataType.FLOAT64,
  scorePerPiece: DataType.FLOAT64,
  lastsLonger: DataType.BOOL,
} as const satisfies Record<keyof Estimates, ElementType>;

/** Gathers the games and the summary from the events of an evaluation. */
export async function gathered(events: AsyncIterable<EvaluationEvent>): Promise<Evaluation> {
  const { results, summary } = await parts(events);
  return { games: inOrder<Games>(results, GAMES), summary };
}

/** Gathers the estimates and the summary from the events of an evaluation. */
export async function gatheredEstimates(events: AsyncIterable<EvaluationEvent>): Promise<Estimation> {
  const { results, summary } = await parts(events);
  return { estimates: inOrder<Estimates>(results, ESTIMATES), summary };
}

async function parts(events: AsyncIterable<EvaluationEvent>): Promise<{ results: (EvaluationResults | EvaluationEstimates)[]; summary: EvaluationSummary }> {
  const results: (EvaluationResults | EvaluationEstimates)[] = [];
  let summary: EvaluationSummary | undefined;
  for await (const event of events) {
    if (event.case === "results" || event.case === "estimates") {
      results.push(event.value);
    } else if (event.case === "summary") {
      summary = event.value;
    }
  }
  return { results, summary: summary! }; // `evaluated` ends with a summary
}

/** The columns of some messages, in the order of policy, seed and episode. */
function inOrder<R extends Rows>(results: readonly object[], columns: Readonly<Record<string, ElementType>>): R {
  const all = Object.fromEntries(Object.entries(columns).map(([name, dtype]) => [name, joined(results.map((one) => elementsOf((one as Record<string, Tensor>)[name], dtype)), dtype)]));
  const { policyIndices: policies, seedIndices: seeds, episodeIndices: episodes } = all as unknown as Rows;
  const order = policies.map((_, at) => at).sort((a, b) => policies[a]! - policies[b]! || seeds[a]! - seeds[b]! || episodes[a]! - episodes[b]!);
  return Object.fromEntries(Object.entries(all).map(([name, values]) => [name, (values as Float64Array).map((_, at) => (values as Float64Array)[order[at]!]!)])) as unknown as R;
}

/** Arrays of one type, one after the other. */
function joined<D extends ElementType>(parts: readonly Arrays[D][], dtype: D): Arrays[D] {
  const whole = zeros(dtype, parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    (whole as Float64Array).set(part as Float64Array, at);
    at += part.length;
  }
  return whole;
}

/** Yields the events of an evaluation. Throws if they do not fit the request. */
export async function* evaluated(request: Request, messages: AsyncIterable<EvaluatePoliciesResponse>): AsyncGenerator<EvaluationEvent> {
  let games: Missing | undefined;
  let isDone = false;
  for await (const { event } of messages) {
    if (isDone || (games === undefined) !== (event.case === "started")) {
      throw unreadable(`${event.case ?? "an unknown event"} is out of order`);
    }
    switch (event.case) {
      case "started":
        games = new Missing(request, event.value);
        break;
      case "results":
      case "estimates":
        games!.take(event);
        break;
      case "recording":
        games!.takeRecording(event.value);
        break;
      case "summary":
        games!.finish(event.value);
        isDone = true;
        break;
      case undefined:
        continue; // an event of a newer server
    }
    yield event;
  }
  if (!isDone) {
    throw unreadable("it ended before the summary");
  }
}

/** Bits for the missing parts of a game. */
const RESULT = 1;
const RECORDING = 2;

/** The missing games of an evaluation. */
class Missing {
  private readonly numPolicies: number;
  private readonly numSeeds: number;
  private readonly episodes: number;
  /** Missing parts of each game, in the order of policy, seed and episode. */
  private readonly missing: Uint8Array;
  /** Number of games per policy. */
  private readonly counts: number[];
  private left = 0;
  /** The events that bring results. */
  private readonly kind: "results" | "estimates";

  constructor(request: Request, started: EvaluationStarted) {
    this.numPolicies = started.numPolicies;
    this.numSeeds = started.numSeeds;
    this.episodes = started.episodesPerSeed;
    const fits = within(this.numPolicies, policiesOf(request)) && within(this.numSeeds, seedsOf(request, this.numPolicies));
    if (!fits || this.episodes !== (request.episodesPerSeed || 1)) {
      const games = `${this.numPolicies} policies, ${this.numSeeds} seeds and ${this.episodes} episodes each`;
      throw unreadable(`it is for ${games}, which were not asked for`);
    }
    this.kind = request.lossEstimation === undefined ? "results" : "estimates";
    this.missing = new Uint8Array(this.numPolicies * this.numSeeds * this.episodes);
    this.counts = Array<number>(this.numPolicies).fill(0);
    const expected = (request.includeResults ? RESULT : 0) | (request.includeRecordings ? RECORDING : 0);
    const parts = (expected & RESULT) + (expected >> 1);
    for (const [policy, seed] of this.pairs(request)) {
      const first = this.indexOf(policy, seed, 0);
      this.missing.fill(expected, first, first + this.episodes);
      this.counts[policy]! += this.episodes;
      this.left += parts * this.episodes;
    }
  }

  /** Takes a message with finished games, or estimates. */
  take(event: Extract<EvaluationEvent, { case: "results" | "estimates" }>): void {
    if (event.case !== this.kind) {
      throw unreadable(`${event.case} came, expected ${this.kind}`);
    }
    const columns: Readonly<Record<string, ElementType>> = event.case === "results" ? GAMES : ESTIMATES;
    const { policyIndices: policies, seedIndices: seeds, episodeIndices: episodes } = columnsOf<Rows>(event.value, columns);
    policies.forEach((policy, at) => this.tick(RESULT, policy, seeds[at]!, episodes[at]!));
  }

  /** Takes the recording of a finished game. */
  takeRecording({ policyIndex, seedIndex, episodeIndex, recording }: EvaluationRecording): void {
    if (recording === undefined) {
      throw unreadable("a recording is empty");
    }
    this.tick(RECORDING, policyIndex, seedIndex, episodeIndex);
  }

  /** Takes the summary. */
  finish({ policies, estimates, pairedDifferences }: EvaluationSummary): void {
    if (this.left > 0) {
      throw unreadable(`${this.left} results are missing`);
    }
    const played = [...this.counts.keys()].filter((policy) => this.counts[policy]! > 0);
    const summed = this.kind === "results" ? policies.map((policy) => ({ ...policy, count: policy.numGames })) : estimates.map((policy) => ({ ...policy, count: policy.numEstimates }));
    agree("policies of the summary", String(summed.map(({ policyIndex }) => policyIndex)), String(played));
    for (const { policyIndex, count, lines, pieces, steps, score } of summed) {
      agree(`number of games of policy ${policyIndex}`, count, BigInt(this.counts[policyIndex]!));
      if (lines === undefined || pieces === undefined || steps === undefined || score === undefined) {
        throw unreadable(`the summary of policy ${policyIndex} lacks statistics`);
      }
    }
    if (pairedDifferences.some(({ policyIndex, baselineIndex }) => policyIndex >= this.numPolicies || baselineIndex >= this.numPolicies)) {
      throw unreadable("the summary compares a policy that was not asked for");
    }
  }

  private tick(part: number, policy: number, seed: number, episode: number): void {
    const isGame = Math.min(policy, seed, episode) >= 0 && policy < this.numPolicies && seed < this.numSeeds && episode < this.episodes;
    const index = this.indexOf(policy, seed, episode);
    if (!isGame || (this.missing[index]! & part) === 0) {
      throw unreadable(`the game of policy ${policy}, seed ${seed} and episode ${episode} was not asked for, or comes twice`);
    }
    this.missing[index]! ^= part;
    this.left -= 1;
  }

  private indexOf(policy: number, seed: number, episode: number): number {
    return (policy * this.numSeeds + seed) * this.episodes + episode;
  }

  private *pairs({ pairs }: Request): Iterable<[policy: number, seed: number]> {
    if (pairs === undefined) {
      for (let policy = 0; policy < this.numPolicies; policy++) {
        for (let seed = 0; seed < this.numSeeds; seed++) {
          yield [policy, seed];
        }
      }
      return;
    }
    const numbers = pairs.values?.length ? pairs.values : elements(create(TensorSchema, pairs));
    for (let at = 0; at < numbers.length; at += 2) {
      yield [Number(numbers[at]), Number(numbers[at + 1])];
    }
  }
}

/** Expected value of a number in the answer, or its upper bound. */
interface Bound {
  readonly exact?: number;
  readonly most: number;
}

function within(number: number, { exact, most }: Bound): boolean {
  return number <= most && (exact === undefined || number === exact);
}

function policiesOf({ policies }: Request): Bound {
  const rows = (policies ?? []).map(({ kind }) => (kind?.case === "weights" ? rowsOf(kind.value.weights) : { exact: 1, most: 1 }));
  const most = rows.reduce((sum, { most }) => sum + most, 0);
  return rows.some(({ exact }) => exact === undefined) ? { most } : { exact: most, most };
}

/** Number of policies of a tensor of weights. */
function rowsOf(weights: TensorInit | undefined): Bound {
  const [rows, columns] = weights?.shape ?? [];
  const exact = rows === undefined ? undefined : columns === undefined ? 1 : rows;
  return exact === undefined ? { most: weights?.values?.length ?? 0 } : { exact, most: exact };
}

function seedsOf({ seeding }: Request, numPolicies: number): Bound {
  const exact = (count: number | undefined): Bound => ({ exact: count ?? 0, most: count ?? 0 });
  switch (seeding?.kind?.case) {
    case "drawn":
      return exact(seeding.kind.value.count);
    case "pieceSequences":
      return exact(seeding.kind.value.sequences?.length);
    case "seeds":
      return exact((seeding.kind.value.seeds?.length ?? 0) / (seeding.kind.value.perPolicy ? numPolicies : 1));
    default:
      return exact(0);
  }
}

/** The columns of a message, each of one length. */
function columnsOf<R>(message: object, columns: Readonly<Record<string, ElementType>>): R {
  const { policyIndices } = message as { policyIndices?: Tensor };
  const shape = [column("policy_indices", policyIndices, [DataType.INT32], [ANY]).length];
  const named = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(columns).map(([name, dtype]) => [name, column(named(name), (message as Record<string, Tensor>)[name], [dtype], shape)])) as R;
}
