// A recorded game, played again by the server, compared with the record, and judged by a player.
//
// It knows no elements of the page. A game of keys is played key by key, and not judged: only landings have placements.
//
// A snapshot of every position would be a call of its own. So the session has an environment for each step of a chunk: all begin at
// the same position, and step k of the chunk is taken by those from the k-th on. In the end each stands at a position of its own, and
// one call saves them all.

import { type PlacementOptions, type Placements, type Session, type Step, TetrionError } from "../src/index.js";
import { ActionModel, AutoresetMode, EpisodeEnd, type RecordedOutcome, type Recording, type Rules } from "../src/protocol.js";
import type { App } from "./app.js";
import { Field } from "./field.js";
import { type Hand, boardOf, handOf, placed } from "./pieces.js";
import { shownOf } from "./rules.js";
import { type Tally, landed, tallyOf } from "./tally.js";
import type { Cell } from "./tetromino.js";
import { cellsOf, judgementOf } from "./weighing.js";

/** Maximum number of steps that the page plays, and keeps in memory. */
export const MOST_STEPS = 20_000;
/** Number of steps between two calls for snapshots, and for the placements of these steps. */
const CHUNK = 32;

/** A placement that the record chose. */
export interface Choice {
  readonly kind: number;
  readonly cells: readonly Cell[];
  readonly holds: boolean;
}

/** A side of the game after some steps. */
export interface Standing {
  /** A snapshot. */
  readonly state: Uint8Array;
  readonly field: Field;
  readonly hand: Hand;
  readonly tally: Tally;
  /** Cells of the falling piece, in games of keys. */
  readonly falling: readonly Cell[];
  readonly isOver: boolean;
  /** The next placement of the record; undefined at its end, and in games of keys. */
  choice?: Choice | undefined;
}

/** Whose values count: those of a policy, or the exact ones, which are lines. */
export type Judge = Pick<PlacementOptions, "policy" | "includeOptimalValues">;
/** The exact values. */
export const EXACT: Judge = { includeOptimalValues: true };

/** What a player makes of a placement that the record chose. */
export interface Verdict {
  /** 1 for the best placement; NaN for one that the player does not consider. */
  readonly rank: number;
  /** Number of placements that the player considers. */
  readonly among: number;
  /** Value that the choice gives away against the best placement; infinite for one that the player does not consider. */
  readonly loss: number;
}

/** What a file says of a side. */
interface Side {
  readonly actions: readonly number[];
  readonly landingLines: Uint8Array;
  readonly outcome?: RecordedOutcome | undefined;
}

/** A recorded game as far as it has been played again. */
export class Course {
  /** The game after each number of steps, one standing per side. */
  readonly moments: Standing[][] = [];
  /** The first difference between the record and the game, in words. */
  difference: string | undefined;
  /** Whether the whole record has been played, or as much of it as can be. */
  isDone = false;
  /** Verdicts on the choices of each side, by step; undefined where no piece was placed, or before the player has judged. */
  verdicts: (Verdict | undefined)[][] = [];
  private readonly sides: readonly Side[];

  constructor(private readonly app: App, readonly recording: Recording) {
    this.sides = [recording, ...(recording.opponent === undefined ? [] : [recording.opponent])];
  }

  get rules(): Rules {
    return this.recording.rules!;
  }

  /** Number of sides: 2 in a match. */
  get players(): number {
    return this.sides.length;
  }

  /** Number of steps to play. */
  get numSteps(): number {
    return Math.min(this.recording.actions.length, MOST_STEPS);
  }

  /** Whether the record is longer than what the page plays, so that its end is not compared. */
  get isCut(): boolean {
    return this.recording.actions.length > MOST_STEPS;
  }

  /** Whether its steps are placements. */
  get isPlaced(): boolean {
    return this.rules.actionModel !== ActionModel.KEYPRESS;
  }

  /** Plays the record to its end or to the first difference. Calls `told` as positions are added. */
  async play(signal: AbortSignal, told: () => void): Promise<void> {
    const { rules, recording } = this;
    const { observations, infos } = shownOf(rules);
    const { invalidActionPolicy, invalidActionReward } = recording;
    const session = await this.app.session("Replay", { rules, numEnvs: this.players * Math.max(1, Math.min(CHUNK, this.numSteps)), observations, infos: [...infos, "end"], invalidActionPolicy, invalidActionReward, autoresetMode: AutoresetMode.DISABLED });
    try {
      await this.begin(session);
      told();
      let last: Step | undefined;
      while (this.difference === undefined && this.moments.length <= this.numSteps) {
        const from = this.moments.length - 1;
        last = (await this.advance(session, from, Math.min(from + CHUNK, this.numSteps), signal)) ?? last;
        told();
      }
      if (!this.isCut && this.difference === undefined) {
        this.difference = this.sides.map((side, at) => this.named(at, this.atEnd(side, at, last))).find((words) => words !== undefined);
      }
      this.isDone = true;
      told();
    } finally {
      this.app.end(session);
    }
  }

  /** Lets a player judge the choices of a side. Calls `told` as verdicts are added. */
  async judge(judge: Judge, side: number, signal: AbortSignal, told: () => void): Promise<void> {
    const verdicts: (Verdict | undefined)[] = (this.verdicts[side] = []);
    for (let from = 0; this.isPlaced && from < this.moments.length - 1; from += CHUNK) {
      signal.throwIfAborted();
      const steps = range(from, Math.min(from + CHUNK, this.moments.length - 1)).filter((step) => this.moments[step]![side]!.choice !== undefined);
      if (steps.length === 0) {
        continue;
      }
      const placements = await this.app.client.enumeratePlacements({ snapshots: steps.map((step) => this.moments[step]![side]!.state) }, { ...judge, signal });
      steps.forEach((step, at) => (verdicts[step] = verdictOn(placements, at, this.sides[side]!.actions[step]!)));
      told();
    }
  }

  /** Whether the server knows the exact values of these playfields. */
  async hasExactValues(): Promise<boolean> {
    try {
      await this.look(EXACT, 0, 0);
      return this.isPlaced;
    } catch (problem) {
      if (problem instanceof TetrionError && problem.reason !== "") {
        return false;
      }
      throw problem;
    }
  }

  /** The placements of a side after some steps, with the values that a player gives them, and the row that the record chose. */
  async look(judge: Judge, side: number, step: number, signal?: AbortSignal): Promise<{ placements: Placements; row: number }> {
    const placements = await this.app.client.enumeratePlacements({ snapshots: [this.moments[step]![side]!.state] }, { ...judge, includeCells: true, signal });
    return { placements, row: placements.actions.indexOf(this.sides[side]!.actions[step]!) };
  }

  private async begin(session: Session): Promise<void> {
    const { pieces, start } = this.recording;
    const envIds = range(0, this.players);
    const reset = pieces.case === "pieceSequence" ? { pieceSequences: [pieces.value] } : { seeds: this.sides.map(() => pieces.value as bigint) };
    const fresh = await session.reset({ ...reset, envIds });
    const first = start === undefined ? fresh : await session.restoreState({ drawings: [start] }, { envIds });
    const states = await session.saveState({ envIds });
    this.moments.push(this.sides.map((_, at) => {
      const field = new Field(this.rules.width!, this.rules.height!);
      field.agree(boardOf(first.observations, this.rules, at));
      return { state: states[at]!, field, hand: handOf(first.observations, this.rules, at), tally: tallyOf(first.infos, at), falling: fallingOf(first, at), isOver: false };
    }));
  }

  /** Plays some steps. Returns the last answer; undefined if there is none. */
  private async advance(session: Session, from: number, to: number, signal: AbortSignal): Promise<Step | undefined> {
    const steps: Step[] = [];
    const { players } = this;
    /** The environments that take this step of the chunk and those after it. */
    const those = (at: number) => range(at * players, (to - from) * players);
    let refused: string | undefined;
    const base = this.moments[from]!.map(({ state }) => state);
    await session.restoreState({ snapshots: range(from, to).flatMap(() => base) }, { envIds: those(0) });
    for (let at = 0; at < to - from; at++) {
      signal.throwIfAborted();
      const turn = this.sides.map(({ actions }) => actions[from + at]!);
      try {
        steps.push(await session.step(range(from + at, to).flatMap(() => turn), { envIds: those(at) }));
      } catch (problem) {
        if (!(problem instanceof TetrionError) || problem.reason === "" || problem.codeName === "NOT_FOUND") {
          throw problem;
        }
        refused = `step ${from + at + 1}: ${problem.rawMessage}`;
        break;
      }
    }
    const states = steps.length === 0 ? [] : await session.saveState({ envIds: range(0, steps.length * players) });
    const played = steps.map((step, at) => ({ step, states: states.slice(at * players, (at + 1) * players) }));
    await this.choose(from, played);
    for (const { step, states } of played) {
      this.take(step, states);
      if (this.difference !== undefined) {
        return step; // the game is another one from here on
      }
    }
    this.difference = refused;
    return played.at(-1)?.step;
  }

  /** Finds the cells of the placements of some steps. */
  private async choose(from: number, played: readonly { step: Step; states: readonly Uint8Array[] }[]): Promise<void> {
    if (!this.isPlaced) {
      return;
    }
    const states = (at: number) => (at === 0 ? this.moments[from]!.map(({ state }) => state) : played[at - 1]!.states);
    const pieces = (at: number, side: number) => (at < 0 ? this.moments[from]![side]!.tally.pieces : played[at]!.step.infos.pieces![side]!);
    // An action that does not exist lands nothing.
    const landings = played.flatMap((_, at) => this.sides.flatMap(({ actions }, side) => (pieces(at, side) > pieces(at - 1, side) ? [{ at, side, state: states(at)[side]!, action: actions[from + at]! }] : [])));
    if (landings.length === 0) {
      return;
    }
    const found = await this.app.client.enumeratePlacements({ snapshots: landings.map(({ state }) => state) }, { actions: landings.map(({ action }) => action), includeCells: true });
    this.found = new Map(landings.map(({ at, side }, row) => [`${from + at} ${side}`, { row, placements: found }]));
  }

  private found = new Map<string, { readonly row: number; readonly placements: Placements }>();

  /** Adds the position after a step, and compares the landing. */
  private take(step: Step, states: readonly Uint8Array[]): void {
    const { rules } = this;
    const number = this.moments.length - 1;
    const before = this.moments[number]!;
    this.moments.push(before.map((was, side) => {
      const board = boardOf(step.observations, rules, side);
      const field = was.field.copy();
      const found = this.found.get(`${number} ${side}`);
      const hasLanded = step.infos.pieces![side]! > was.tally.pieces;
      let tally: Tally = { ...was.tally, points: tallyOf(step.infos, side).points };
      if (hasLanded) {
        const holds = found?.placements.holds?.[found.row] === 1;
        const kind = placed(was.hand, holds);
        const cells = found === undefined ? field.landing(kind, was.falling, board) : cellsOf(found.placements, found.row);
        if (cells !== undefined) {
          const clears = found === undefined || found.placements.terminated[found.row] === 0 || found.placements.lines[found.row]! > 0;
          field.land(kind, cells, clears);
        }
        if (found !== undefined && cells !== undefined) {
          was.choice = { kind, cells, holds };
        }
        field.agree(board);
        tally = landed(was.tally, step.infos, kind, field.top === 0, side).tally;
        this.compare(side, number + 1, tally.pieces, tally.lines - was.tally.lines);
      } else {
        field.agree(board);
      }
      const isOver = step.terminated[side] === 1 || step.truncated[side] === 1;
      return { state: states[side]!, field, hand: handOf(step.observations, rules, side), tally, falling: fallingOf(step, side), isOver };
    }));
  }

  private compare(side: number, step: number, piece: number, lines: number): void {
    const recorded = this.sides[side]!.landingLines[piece - 1];
    if (recorded !== lines) {
      this.difference ??= this.named(side, `step ${step}, piece ${piece}: ${lines} lines, recorded ${recorded ?? "none"}`);
    }
  }

  /** The first difference at the end of a side, in words. */
  private atEnd({ outcome, landingLines }: Side, side: number, last: Step | undefined): string | undefined {
    const { tally } = this.moments.at(-1)![side]!;
    const { pieces, lines, score, end, rows } = outcome!;
    // Environments add up points landing by landing, evaluations the points for the end separately: fractions may differ in their last bits.
    const isRounding = Math.abs(score - tally.points) <= 1e-9 * Math.max(1, Math.abs(tally.points));
    const totals = [["pieces", Number(pieces), tally.pieces], ["pieces with lines", landingLines.length, tally.pieces], ["lines", Number(lines), tally.lines], ["points", isRounding ? tally.points : score, tally.points]] as const;
    const total = totals.find(([, recorded, played]) => recorded !== played);
    if (total !== undefined) {
      return `at the end: ${total[2]} ${total[0]}, recorded ${total[1]}`;
    }
    const ended = last?.infos.end?.[side] ?? EpisodeEnd.NOT_ENDED;
    if (ended !== end) {
      return `at the end: ${inWords(ended)}, recorded ${inWords(end)}`;
    }
    const { field } = this.moments.at(-1)![side]!;
    for (let row = 0; row < field.height; row++) {
      const played = Array.from(field.cells.subarray(row * field.width, (row + 1) * field.width), (cell) => (cell === 0 ? "." : "#")).join("");
      const recorded = rows[rows.length - 1 - row] ?? ".".repeat(field.width);
      if (played !== recorded) {
        return `at the end: row ${row} of the playfield is ${played}, recorded ${recorded}`;
      }
    }
    return undefined;
  }

  private named(side: number, words: string | undefined): string | undefined {
    return words === undefined || side === 0 ? words : `opponent: ${words}`;
  }
}

function inWords(end: number): string {
  return (EpisodeEnd[end] ?? String(end)).toLowerCase().replaceAll("_", " ");
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

function fallingOf({ observations: { falling_cells: cells } }: { readonly observations: Step["observations"] }, side: number): Cell[] {
  return cells === undefined ? [] : [0, 2, 4, 6].map((at): Cell => [cells[8 * side + at]!, cells[8 * side + at + 1]!]);
}

/** The verdict on an action in a position of an answer. */
function verdictOn(placements: Placements, position: number, action: number): Verdict | undefined {
  const { first, values, best } = judgementOf(placements, position);
  const row = placements.actions.subarray(first, first + values.length).indexOf(action);
  if (row < 0) {
    return undefined;
  }
  const among = values.filter(Number.isFinite).length;
  const [most, value] = [values[best - first]!, values[row]!];
  if (value === most) {
    return { rank: 1, among, loss: 0 };
  }
  return Number.isFinite(value) ? { rank: values.filter((other) => other > value).length + 1, among, loss: most - value } : { rank: NaN, among, loss: Infinity };
}
