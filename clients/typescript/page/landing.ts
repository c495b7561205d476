// A turn of programs: steps until the piece of each has landed. If a step is a key, a piece falls on its way, so after each key the way
// to its placement is computed again.

import type { Session, Step } from "../src/index.js";
import { clearsRows } from "./weighing.js";

/** A placement that a program has chosen in an environment. */
export interface Aimed {
  readonly env: number;
  readonly action: number;
  /** Number of the placement. */
  readonly placement: number;
  /** Number of pieces that have landed in the environment. */
  readonly pieces: number;
  /** Whether full rows clear: not if the placement loses the game without a line. */
  readonly clears: boolean;
}

/** A call that was made, to make it again. */
export interface Taken {
  readonly actions: readonly number[];
  readonly envIds: readonly number[];
}

/** The answer to the step with which a piece landed, and its row there. */
export interface Landing {
  readonly step: Step;
  readonly row: number;
  readonly clears: boolean;
}

/** Lands the pieces, each in its environment. `alive` makes a call on the session. */
export async function land(alive: <T>(call: (session: Session) => Promise<T>) => Promise<T>, aimed: readonly Aimed[]): Promise<{ landings: Landing[]; taken: Taken[] }> {
  const landings: Landing[] = [];
  const taken: Taken[] = [];
  let waiting = aimed.map((aim, at) => ({ ...aim, at }));
  while (waiting.length > 0) {
    const [actions, envIds] = [waiting.map(({ action }) => action), waiting.map(({ env }) => env)];
    const step = await alive((session) => session.step(actions, { envIds }));
    taken.push({ actions, envIds });
    const isDown = waiting.map(({ pieces }, row) => step.infos.pieces![row]! > pieces || step.terminated[row] === 1);
    waiting.forEach(({ at, clears }, row) => isDown[row] && (landings[at] = { step, row, clears }));
    const left = waiting.filter((_, row) => !isDown[row]);
    if (left.length === 0) {
      break;
    }
    const listed = await alive((session) => session.enumeratePlacements({ envIds: left.map(({ env }) => env) }));
    const { rowOffsets, placements, actions: ways } = listed;
    waiting = left.map((aim, at) => {
      const [first, end] = [rowOffsets[at]!, rowOffsets[at + 1]!];
      const row = first + Math.max(0, placements.subarray(first, end).indexOf(aim.placement));
      return { ...aim, action: ways[row]!, clears: clearsRows(listed, row) };
    });
  }
  return { landings, taken };
}
