// The learning curves of the sessions that were watched: they stay when their learners have ended, for as long as the tab is open.

import { keep, kept } from "./kept.js";

/** Episodes of which a curve shows the mean. */
export const WINDOW = 50;
/** Points of a curve; where there are twice as many, every other one goes. */
const POINTS = 400;
/** Runs that are kept. */
const MOST = 8;
const NAME = "tetrion-runs";

/** A point of a curve: how many episodes have ended, and the mean of the last ones. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** What was seen of a session. */
export class Run {
  isOver = false;
  /** Episodes that were seen ending. */
  count = 0;
  points: Point[] = [];
  private recent: number[] = [];
  private readonly last = new Map<number, string>();

  /** With the session's name, and what is played in it, in words. */
  constructor(readonly name: string, readonly what: string) {}

  /** The mean of the last episodes; NaN where none was seen ending. */
  get mean(): number {
    return this.recent.reduce((sum, lines) => sum + lines, 0) / this.recent.length;
  }

  /** The last episode of an environment that ended, which is in every frame until the next one does; `id` names the episode. */
  saw(env: number, id: string, lines: number): void {
    if (this.last.get(env) === id) {
      return;
    }
    this.last.set(env, id);
    this.count++;
    this.recent = [...this.recent, lines].slice(-WINDOW);
    this.points.push({ x: this.count, y: this.mean });
    if (this.points.length > 2 * POINTS) {
      this.points = this.points.filter((_, at) => at % 2 === 1);
    }
  }

  /** A run of which only the curve is left. */
  static ended({ name, what, points }: Pick<Run, "name" | "what" | "points">): Run {
    const run = new Run(name, what);
    [run.isOver, run.points, run.count] = [true, points, points.at(-1)?.x ?? 0];
    return run;
  }
}

/** The curves that this tab has kept, as runs that have ended. */
export function keptRuns(): Run[] {
  const isPoint = (value: unknown) => typeof value === "object" && value !== null && ["x", "y"].every((name) => Number.isFinite((value as Record<string, unknown>)[name]));
  const isRun = (value: unknown) => {
    const { name, what, points } = (value ?? {}) as Partial<Run>;
    return typeof name === "string" && typeof what === "string" && Array.isArray(points) && points.every(isPoint);
  };
  const isRuns = (value: unknown): value is Run[] => Array.isArray(value) && value.every(isRun);
  return (kept("session", NAME, isRuns) ?? []).map((run) => Run.ended(run));
}

/** Keeps the curves of the newest runs that have one. */
export function keepRuns(runs: Iterable<Run>): void {
  const curves = [...runs].filter(({ points }) => points.length > 1).slice(-MOST);
  keep("session", NAME, curves.map(({ name, what, points }) => ({ name, what, points })));
}
