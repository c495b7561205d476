// A recorded game, played again by the server, compared with the record, and judged by a player.
//
// It knows no elements of the page. A game of keys is played key by key, and not judged: only landings have placements.
//
// A snapshot of every position would be a call of its own. So the session has an environment for each step of a chunk: all begin at
// the same position, and step k of the chunk is taken by those from the k-th on. In the end each stands at a position of its own, and
// one call saves them all.

import { type FirstStep, type PlacementOptions, type Placements, type Session, type SessionOptions, type Step, TetrionError } from "../src/index.js";
import { ActionModel, AutoresetMode, EpisodeEnd, type RecordedOutcome, type Recording, type Rules } from "../src/protocol.js";
import type { App } from "./app.js";
import { Field } from "./field.js";
import { type Hand, boardOf, handOf, placed } from "./pieces.js";
import { checkRules } from "./recording.js";
import { shownOf } from "./rules.js";
import { type Tally, landed, tallyOf } from "./tally.js";
import type { Cell } from "./tetromino.js";
import { cellsAt, cellsOf, clearsRows, judgementOf } from "./weighing.js";

/** Maximum number of steps that the page plays, and keeps in memory. */
export const MOST_STEPS = 20_000;
/** Number of steps between two calls for snapshots, and for the placements of these steps. */
const CHUNK = 32;
/** Reasons of the server to refuse an action; for others the record is not to blame. */
const REFUSALS = ["ILLEGAL_ACTION", "ACTION_OUT_OF_RANGE", "EPISODE_ENDED", "INVALID_FIELD"];

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
  readonly end: EpisodeEnd;
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
  readonly holeColumns: readonly number[];
}

/** A step that was taken, and the snapshots after it. */
interface Played {
  readonly step: Step;
  readonly states: readonly Uint8Array[];
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

  private constructor(private readonly app: App, readonly recording: Recording, private readonly sides: readonly Side[], private readonly session: Session) {}

  /** Begins the game of a checked recording. Throws a `RangeError` if it leaves rules open. */
  static async begin(app: App, recording: Recording): Promise<Course> {
    const { rules, invalidActionPolicy, invalidActionReward, opponent, actions } = recording;
    const sides = [recording, ...(opponent === undefined ? [] : [opponent])];
    const { observations, infos } = shownOf(rules!);
    const numEnvs = sides.length * Math.max(1, Math.min(CHUNK, actions.length));
    const session = await app.session("Replay", { rules: rules!, numEnvs, ...piecesOf(recording, sides, numEnvs), observations, infos: [...infos, "end"], invalidActionPolicy, invalidActionReward, autoresetMode: AutoresetMode.DISABLED });
    try {
      checkRules(rules!, session.rules);
      const course = new Course(app, recording, sides, session);
      await course.start();
      return course;
    } catch (problem) {
      app.end(session);
      throw problem;
    }
  }

  /** The rules, with every field. */
  get rules(): Rules {
    return this.session.rules;
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

  /** Plays the record to its end or to the first difference, and ends the session. Calls `progress` as positions are added. */
  async play(signal: AbortSignal, progress: () => void): Promise<void> {
    try {
      while (this.difference === undefined && this.moments.length <= this.numSteps) {
        const from = this.moments.length - 1;
        await this.advance(from, Math.min(from + CHUNK, this.numSteps), signal);
        progress();
      }
      if (!this.isCut) {
        this.difference ??= this.sides.map((side, at) => this.named(at, this.atEnd(side, at))).find((words) => words !== undefined);
      }
      this.isDone = true;
      progress();
    } finally {
      this.app.end(this.session);
    }
  }

  /** Lets a player judge the choices of a side. Calls `progress` as verdicts are added. */
  async judge(judge: Judge, side: number, signal: AbortSignal, progress: () => void): Promise<void> {
    const verdicts: (Verdict | undefined)[] = (this.verdicts[side] = []);
    for (let from = 0; this.isPlaced && from < this.moments.length - 1; from += CHUNK) {
      const steps = range(from, Math.min(from + CHUNK, this.moments.length - 1)).filter((step) => this.moments[step]![side]!.choice !== undefined);
      if (steps.length === 0) {
        continue;
      }
      const placements = await this.app.client.enumeratePlacements({ snapshots: steps.map((step) => this.moments[step]![side]!.state) }, { ...judge, signal });
      signal.throwIfAborted();
      steps.forEach((step, at) => (verdicts[step] = verdictOn(placements, at, this.sides[side]!.actions[step]!)));
      progress();
    }
  }

  /** Whether the server knows the exact values of this game's playfields. */
  async hasExactValues(signal: AbortSignal): Promise<boolean> {
    try {
      const { placements } = await this.placements(EXACT, 0, 0, signal);
      return this.isPlaced && placements.optimalValues!.some(Number.isFinite);
    } catch (problem) {
      if (problem instanceof TetrionError && problem.field === "includeOptimalValues") {
        return false;
      }
      throw problem;
    }
  }

  /** The placements of a side after some steps, with their values, and the row that the record chose; -1 for none. */
  async placements(judge: Judge, side: number, step: number, signal: AbortSignal): Promise<{ placements: Placements; row: number }> {
    const placements = await this.app.client.enumeratePlacements({ snapshots: [this.moments[step]![side]!.state] }, { ...judge, includeCells: true, signal });
    return { placements, row: placements.actions.indexOf(this.sides[side]!.actions[step] ?? -1) };
  }

  private async start(): Promise<void> {
    const { rules, session } = this;
    const { start } = this.recording;
    const envIds = range(0, this.players);
    const first = start === undefined ? await session.reset({ envIds }) : await session.restoreState({ drawings: [start] }, { envIds });
    const states = await session.saveState({ envIds });
    this.moments.push(this.sides.map((_, at) => {
      const field = new Field(rules.width!, rules.height!);
      field.agree(boardOf(first.observations, rules, at));
      return { state: states[at]!, field, hand: handOf(first.observations, rules, at), tally: tallyOf(first.infos, at), falling: fallingOf(first, at), end: endOf(first, at) };
    }));
  }

  /** Plays some steps. */
  private async advance(from: number, to: number, signal: AbortSignal): Promise<void> {
    const { session, players, sides } = this;
    const steps: Step[] = [];
    /** The environments that take this step of the chunk and those after it. */
    const those = (at: number) => range(at * players, (to - from) * players);
    let refused: string | undefined;
    const base = this.moments[from]!.map(({ state }) => state);
    await session.restoreState({ snapshots: range(from, to).flatMap(() => base) }, { envIds: those(0) });
    for (let at = 0; at < to - from; at++) {
      signal.throwIfAborted();
      const turn = sides.map(({ actions }) => actions[from + at]!);
      try {
        steps.push(await session.step(range(from + at, to).flatMap(() => turn), { envIds: those(at) }));
      } catch (problem) {
        if (!(problem instanceof TetrionError) || !REFUSALS.includes(problem.reason)) {
          throw problem;
        }
        const place = Number(/\[(\d+)\]/.exec(problem.field)?.[1] ?? 0);
        refused = this.named(place % players, `step ${from + at + 1}: ${problem.rawMessage}`);
        break;
      }
    }
    const states = steps.length === 0 ? [] : await session.saveState({ envIds: range(0, steps.length * players) });
    const played = steps.map((step, at): Played => ({ step, states: states.slice(at * players, (at + 1) * players) }));
    const found = await this.landings(from, played);
    signal.throwIfAborted();
    for (const one of played) {
      this.take(one, found);
      if (this.difference !== undefined) {
        return; // the game is another one from here on
      }
    }
    this.difference = refused;
  }

  /** The placements with which pieces landed: a row of an answer per step and side, by `STEP SIDE`. */
  private async landings(from: number, played: readonly Played[]): Promise<Map<string, { row: number; placements: Placements }>> {
    const states = (at: number) => (at === 0 ? this.moments[from]!.map(({ state }) => state) : played[at - 1]!.states);
    const pieces = (at: number, side: number) => (at < 0 ? this.moments[from]![side]!.tally.pieces : played[at]!.step.infos.pieces![side]!);
    // An action that does not exist lands nothing.
    const all = played.flatMap((_, at) => this.sides.flatMap(({ actions }, side) => (pieces(at, side) > pieces(at - 1, side) ? [{ at, side, state: states(at)[side]!, action: actions[from + at]! }] : [])));
    if (!this.isPlaced || all.length === 0) {
      return new Map();
    }
    const placements = await this.app.client.enumeratePlacements({ snapshots: all.map(({ state }) => state) }, { actions: all.map(({ action }) => action), includeCells: true });
    return new Map(all.map(({ at, side }, row) => [`${from + at} ${side}`, { row, placements }]));
  }

  /** Adds the position after a step, and compares the landing. */
  private take({ step, states }: Played, landings: Awaited<ReturnType<Course["landings"]>>): void {
    const { rules } = this;
    const number = this.moments.length - 1;
    this.moments.push(this.moments[number]!.map((was, side) => {
      const board = boardOf(step.observations, rules, side);
      const field = was.field.copy();
      let tally: Tally = { ...was.tally, points: tallyOf(step.infos, side).points };
      const landing = landings.get(`${number} ${side}`);
      const hasLanded = step.infos.pieces![side]! > was.tally.pieces;
      const holds = landing?.placements.holds?.[landing.row] === 1;
      const kind = placed(was.hand, holds);
      if (hasLanded) {
        const cells = landing === undefined ? field.landing(kind, was.falling, board) : cellsOf(landing.placements, landing.row);
        const clears = landing === undefined || clearsRows(landing.placements, landing.row);
        field.land(kind, cells ?? [], clears);
        was.choice = landing === undefined ? undefined : { kind, cells: cells!, holds };
      }
      field.agree(board);
      if (hasLanded) {
        tally = landed(was.tally, step.infos, kind, field.top === 0, side).tally;
        this.compare(side, number + 1, tally.pieces, tally.lines - was.tally.lines);
      }
      return { state: states[side]!, field, hand: handOf(step.observations, rules, side), tally, falling: fallingOf(step, side), end: endOf(step, side) };
    }));
  }

  private compare(side: number, step: number, piece: number, lines: number): void {
    const recorded = this.sides[side]!.landingLines[piece - 1];
    if (recorded !== lines) {
      this.difference ??= this.named(side, `step ${step}, piece ${piece}: ${lines} lines, recorded ${recorded ?? "none"}`);
    }
  }

  /** The first difference at the end of a side, in words. */
  private atEnd({ outcome, landingLines }: Side, side: number): string | undefined {
    const { tally, end: ended, field } = this.moments.at(-1)![side]!;
    const { pieces, lines, score, end, rows } = outcome!;
    // Environments add up points landing by landing, evaluations the points for the end separately: fractions may differ in their last bits.
    const isRounding = Math.abs(score - tally.points) <= 1e-9 * Math.max(1, Math.abs(tally.points));
    const totals = [["pieces", Number(pieces), tally.pieces], ["pieces with lines", landingLines.length, tally.pieces], ["lines", Number(lines), tally.lines], ["points", isRounding ? tally.points : score, tally.points]] as const;
    const total = totals.find(([, recorded, played]) => recorded !== played);
    if (total !== undefined) {
      return `at the end: ${total[2]} ${total[0]}, recorded ${total[1]}`;
    }
    if (ended !== end) {
      return `at the end: ${endName(ended)}, recorded ${endName(end)}`;
    }
    const drawn = (row: number) => rows[rows.length - 1 - row]?.replace(/[^. ]/gu, "#").replaceAll(" ", ".") ?? ".".repeat(field.width);
    for (let row = 0; row < Math.max(field.height, rows.length); row++) {
      const cells = field.cells.subarray(row * field.width, (row + 1) * field.width);
      const played = row < field.height ? Array.from(cells, (cell) => (cell === 0 ? "." : "#")).join("") : "no row";
      if (played !== drawn(row)) {
        return `at the end: row ${row} of the playfield is ${played}, recorded ${drawn(row).slice(0, 40)}`;
      }
    }
    return undefined;
  }

  private named(side: number, words: string | undefined): string | undefined {
    return words === undefined || side === 0 ? words : `opponent: ${words}`;
  }
}

/** The pieces of a recording, and the holes of its garbage, for each environment of a session. */
function piecesOf({ pieces }: Recording, sides: readonly Side[], numEnvs: number): Pick<SessionOptions, "envSeeds" | "pieceSequences" | "holeColumns"> {
  const each = <T>(of: (side: Side) => T) => range(0, numEnvs).map((env) => of(sides[env % sides.length]!));
  if (pieces.case !== "pieceSequence") {
    return { envSeeds: each(() => pieces.value!) };
  }
  const hasHoles = sides.some(({ holeColumns }) => holeColumns.length > 0);
  return { pieceSequences: each(() => pieces.value), ...(hasHoles && { holeColumns: each(({ holeColumns }) => holeColumns) }) };
}

/** How a game ended, in words. */
export function endName(end: EpisodeEnd): string {
  return (EpisodeEnd[end] ?? String(end)).toLowerCase().replaceAll("_", " ");
}

/** The whole numbers from `from` to before `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

function endOf({ infos }: FirstStep, side: number): EpisodeEnd {
  return infos.end![side]!;
}

function fallingOf({ observations: { falling_cells: cells } }: FirstStep, side: number): Cell[] {
  return cells === undefined ? [] : cellsAt(cells, side);
}

/** The verdict on an action in a position of an answer; undefined if there is nothing to choose. */
function verdictOn(placements: Placements, position: number, action: number): Verdict | undefined {
  const { first, values, best } = judgementOf(placements, position);
  const row = placements.actions.subarray(first, first + values.length).indexOf(action);
  const among = values.filter(Number.isFinite).length;
  if (row < 0 || among === 0) {
    return undefined;
  }
  const [most, value] = [values[best - first]!, values[row]!];
  if (value === most) {
    return { rank: 1, among, loss: 0 };
  }
  return Number.isFinite(value) ? { rank: values.filter((other) => other > value).length + 1, among, loss: most - value } : { rank: NaN, among, loss: Infinity };
}
