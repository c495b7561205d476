// The finished episodes of a session as points of a curve.

import { column } from "./answers.js";
import { DataType, type GetHistoryResponse, type Tensor } from "./protocol.js";

/** Mean, minimum and maximum of some episodes. */
export interface Spread {
  readonly mean: number;
  readonly min: number;
  readonly max: number;
}

/** Consecutive episodes of a session. */
export interface HistoryPoint {
  /** Finished episodes of the session up to the last one of this point. */
  readonly episodes: number;
  /** Steps of the session at its end. */
  readonly steps: number;
  /** Age of the session at its end, in seconds. */
  readonly seconds: number;
  /** Lines of an episode. */
  readonly lines: Spread;
  /** Steps of an episode. */
  readonly lengths: Spread;
  /** Return of an episode. */
  readonly returns: Spread;
}

/** The learning curve of a session. */
export interface History {
  /** Number of the last call that changed the session. */
  readonly sequenceNumber: bigint;
  /** Finished episodes of all environments. */
  readonly numEpisodes: number;
  /** Steps of all environments. A step that only starts the next episode counts too. */
  readonly numSteps: number;
  /** Episodes of every point but the last. */
  readonly episodesPerPoint: number;
  /** The points, the oldest first. */
  readonly points: readonly HistoryPoint[];
}

/** The history in an answer. Throws if its columns do not fit together. */
export function historyOf(answer: GetHistoryResponse): History {
  const rows = answer.episodes?.shape[0] ?? 0;
  const counts = (name: string, tensor: Tensor | undefined) => column(name, tensor, [DataType.INT64], [rows]);
  const [episodes, steps] = [counts("episodes", answer.episodes), counts("steps", answer.steps)];
  const seconds = column("seconds", answer.seconds, [DataType.FLOAT64], [rows]);
  const spread = (name: string, tensor: Tensor | undefined) => {
    const numbers = column(name, tensor, [DataType.FLOAT64], [rows, 3]);
    return (row: number): Spread => ({ mean: numbers[3 * row]!, min: numbers[3 * row + 1]!, max: numbers[3 * row + 2]! });
  };
  const [lines, lengths, returns] = [spread("lines", answer.lines), spread("lengths", answer.lengths), spread("returns", answer.returns)];
  return {
    sequenceNumber: answer.sequenceNumber,
    numEpisodes: Number(answer.numEpisodes),
    numSteps: Number(answer.numSteps),
    episodesPerPoint: Number(answer.episodesPerRow),
    points: Array.from({ length: rows }, (_, row) => ({
      episodes: episodes[row]!,
      steps: steps[row]!,
      seconds: seconds[row]!,
      lines: lines(row),
      lengths: lengths(row),
      returns: returns(row),
    })),
  };
}
