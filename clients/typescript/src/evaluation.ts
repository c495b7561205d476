// Checks the events of an evaluation against its request: each requested game must come once, and no other game.

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import { ANY, agree, column } from "./answers.js";
import { unreadable } from "./errors.js";
import {
  DataType,
  type EvaluatePoliciesRequestSchema,
  type EvaluatePoliciesResponse,
  type EvaluationActions,
  type EvaluationResults,
  type EvaluationStarted,
  type EvaluationSummary,
  TensorSchema,
} from "./protocol.js";
import { type Arrays, type ElementType, elements, elementsOf, zeros } from "./tensors.js";

type Request = MessageInitShape<typeof EvaluatePoliciesRequestSchema>;
type TensorInit = MessageInitShape<typeof TensorSchema>;

/** A message of an evaluation. */
export type EvaluationEvent = Exclude<EvaluatePoliciesResponse["event"], { case: undefined }>;

/** Games of an evaluation, one element per game in each array. */
export interface Games {
  /** Index of the policy: rows of `weights` first, then `controllers`. */
  readonly policyIndices: Uint32Array;
  /** Index of the seed, or of the piece sequence. */
  readonly seedIndices: Uint32Array;
  /** Episode of the seed. */
  readonly episodeIndices: Uint32Array;
  /** The episode seed, with which `reset` replays the game; 0 for piece sequences. */
  readonly seeds: BigUint64Array;
  /** Cleared lines. */
  readonly lines: BigUint64Array;
  /** Landed pieces. */
  readonly pieces: BigUint64Array;
  /** Steps. */
  readonly steps: BigUint64Array;
  /** Points. */
  readonly scores: Float64Array;
  /** 1 if a limit cut the game. */
  readonly truncated: Uint8Array;
}

/** A finished evaluation. */
export interface Evaluation {
  /** The games in the order of policy, seed and episode. None with `omitResults`. */
  readonly games: Games;
  /** Means and intervals per policy, and paired differences. */
  readonly summary: EvaluationSummary;
}

const COLUMNS = {
  policyIndices: DataType.UINT32,
  seedIndices: DataType.UINT32,
  episodeIndices: DataType.UINT32,
  seeds: DataType.UINT64,
  lines: DataType.UINT64,
  pieces: DataType.UINT64,
  steps: DataType.UINT64,
  scores: DataType.FLOAT64,
  truncated: DataType.BOOL,
} as const satisfies Record<keyof Games, ElementType>;

/** Gathers the games and the summary from the events of an evaluation. */
export async function gathered(events: AsyncIterable<EvaluationEvent>): Promise<Evaluation> {
  const results: EvaluationResults[] = [];
  let summary: EvaluationSummary | undefined;
  for await (const event of events) {
    if (event.case === "results") {
      results.push(event.value);
    } else if (event.case === "summary") {
      summary = event.value;
    }
  }
  const all = Object.fromEntries(Object.entries(COLUMNS).map(([name, dtype]) => [name, joined(results.map((one) => elementsOf(one[name as keyof Games], dtype)), dtype)])) as unknown as Games;
  const { policyIndices: policies, seedIndices: seeds, episodeIndices: episodes } = all;
  const order = policies.map((_, at) => at).sort((a, b) => policies[a]! - policies[b]! || seeds[a]! - seeds[b]! || episodes[a]! - episodes[b]!);
  const games = Object.fromEntries(Object.entries(all).map(([name, values]: [string, Float64Array]) => [name, values.map((_, at) => values[order[at]!]!)])) as unknown as Games;
  return { games, summary: summary! }; // `evaluated` ends with a summary
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
        games!.take(event.value);
        break;
      case "actions":
        games!.takeActions(event.value);
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
const ACTIONS = 2;

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

  constructor(request: Request, started: EvaluationStarted) {
    this.numPolicies = started.numPolicies;
    this.numSeeds = started.numSeeds;
    this.episodes = started.episodesPerSeed;
    const fits = within(this.numPolicies, policiesOf(request)) && within(this.numSeeds, seedsOf(request));
    if (!fits || this.episodes !== (request.episodesPerSeed || 1)) {
      const games = `${this.numPolicies} policies, ${this.numSeeds} seeds and ${this.episodes} episodes each`;
      throw unreadable(`it is for ${games}, which were not asked for`);
    }
    this.missing = new Uint8Array(this.numPolicies * this.numSeeds * this.episodes);
    this.counts = Array<number>(this.numPolicies).fill(0);
    const expected = (request.omitResults ? 0 : RESULT) | (request.record ? ACTIONS : 0);
    const parts = (expected & RESULT) + (expected >> 1);
    for (const [policy, seed] of this.pairs(request)) {
      const first = this.indexOf(policy, seed, 0);
      this.missing.fill(expected, first, first + this.episodes);
      this.counts[policy]! += this.episodes;
      this.left += parts * this.episodes;
    }
  }

  /** Takes a message with finished games. */
  take(results: EvaluationResults): void {
    const policies = column("policy_indices", results.policyIndices, [DataType.UINT32], [ANY]);
    const shape = [policies.length];
    const seeds = column("seed_indices", results.seedIndices, [DataType.UINT32], shape);
    const episodes = column("episode_indices", results.episodeIndices, [DataType.UINT32], shape);
    column("seeds", results.seeds, [DataType.UINT64], shape);
    column("lines", results.lines, [DataType.UINT64], shape);
    column("pieces", results.pieces, [DataType.UINT64], shape);
    column("steps", results.steps, [DataType.UINT64], shape);
    column("scores", results.scores, [DataType.FLOAT64], shape);
    column("truncated", results.truncated, [DataType.BOOL], shape);
    policies.forEach((policy, at) => this.tick(RESULT, policy, seeds[at]!, episodes[at]!));
  }

  /** Takes the actions of a finished game. */
  takeActions({ policyIndex, seedIndex, episodeIndex }: EvaluationActions): void {
    this.tick(ACTIONS, policyIndex, seedIndex, episodeIndex);
  }

  /** Takes the summary. */
  finish({ policies, pairedDifferences }: EvaluationSummary): void {
    if (this.left > 0) {
      throw unreadable(`${this.left} results are missing`);
    }
    const played = [...this.counts.keys()].filter((policy) => this.counts[policy]! > 0);
    agree("policies of the summary", String(policies.map(({ policyIndex }) => policyIndex)), String(played));
    for (const { policyIndex, numGames, lines, pieces, score } of policies) {
      agree(`number of games of policy ${policyIndex}`, numGames, BigInt(this.counts[policyIndex]!));
      if (lines === undefined || pieces === undefined || score === undefined) {
        throw unreadable(`the summary of policy ${policyIndex} lacks statistics`);
      }
    }
    if (pairedDifferences.some(({ policyIndex, baselineIndex }) => policyIndex >= this.numPolicies || baselineIndex >= this.numPolicies)) {
      throw unreadable("the summary compares a policy that was not asked for");
    }
  }

  private tick(part: number, policy: number, seed: number, episode: number): void {
    const isGame = policy < this.numPolicies && seed < this.numSeeds && episode < this.episodes;
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

function policiesOf({ agents, weights }: Request): Bound {
  const named = agents?.length ?? 0;
  const rows = weights?.weights;
  const exact = rows === undefined ? 0 : rows.shape?.[0];
  return exact === undefined ? { most: named + lengthOf(rows) } : { exact: named + exact, most: named + exact };
}

function seedsOf({ games }: Request): Bound {
  const exact = (count: number | undefined): Bound => ({ exact: count ?? 0, most: count ?? 0 });
  switch (games?.case) {
    case "seedRange":
      return exact(games.value.count);
    case "pieceSequences":
      return exact(games.value.sequences?.length);
    case "seeds":
      return games.value.shape?.length ? exact(games.value.shape.at(-1)) : { most: lengthOf(games.value) };
    default:
      return exact(0);
  }
}

/** Number of plain values in a tensor. */
function lengthOf(tensor: TensorInit | undefined): number {
  return tensor?.values?.length ?? 0;
}
