// Learning curves of watched sessions. They stay after the sessions have ended, while the tab is open.

import { keep, kept } from "./kept.js";

/** Number of episodes per mean in a curve. */
export const WINDOW = 50;
/** Number of points of a curve. At twice as many, every other point is dropped. */
const POINTS = 400;
/** Maximum number of curves that the tab keeps. */
const MOST = 8;
const NAME = "tetrion-runs";

/** A point of a curve: the number of finished episodes, and the mean of the last ones. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The observed episodes of a session. */
export class Run {
  isOver = false;
  /** Number of observed episodes. */
  count = 0;
  points: Point[] = [];
  private recent: number[] = [];
  private readonly last = new Map<number, string>();

  /** With the session's name and its description. */
  constructor(readonly name: string, readonly what: string) {}

  /** Mean of the last episodes; NaN if none was observed. */
  get mean(): number {
    return this.recent.reduce((sum, lines) => sum + lines, 0) / this.recent.length;
  }

  /** Takes the last finished episode of an environment. Frames repeat it until the next one ends; `id` identifies it. */
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

  /** An ended run with nothing but its curve. */
  static ended({ name, what, points }: Pick<Run, "name" | "what" | "points">): Run {
    const run = new Run(name, what);
    [run.isOver, run.points, run.count] = [true, points, points.at(-1)?.x ?? 0];
    return run;
  }
}

/** The stored curves of this tab, as ended runs. */
export function keptRuns(): Run[] {
  const isPoint = (value: unknown) => typeof value === "object" && value !== null && ["x", "y"].every((name) => Number.isFinite((value as Record<string, unknown>)[name]));
  const isRun = (value: unknown) => {
    const { name, what, points } = (value ?? {}) as Partial<Run>;
    return typeof name === "string" && typeof what === "string" && Array.isArray(points) && points.every(isPoint);
  };
  const isRuns = (value: unknown): value is Run[] => Array.isArray(value) && value.every(isRun);
  return (kept("session", NAME, isRuns) ?? []).map((run) => Run.ended(run));
}

/** Stores the curves of the newest runs. */
export function keepRuns(runs: Iterable<Run>): void {
  const curves = [...runs].filter(({ points }) => points.length > 1).slice(-MOST);
  keep("session", NAME, curves.map(({ name, what, points }) => ({ name, what, points })));
}
