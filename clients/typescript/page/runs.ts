// Learners of the view "Sessions" and their episodes, as the server keeps them. After a session has ended, its curve stays while the
// tab is open.

import type { History, HistoryPoint } from "../src/index.js";
import { keep, kept } from "./kept.js";

/** Maximum number of ended sessions that the tab keeps. */
const MOST = 8;
const NAME = "tetrion-runs";
/** Number of colours of lines. */
const INKS = 6;

/** A learner's session. */
export interface Run {
  readonly name: string;
  /** Label of the session, or a short form of its name. */
  title: string;
  /** Description of the session. */
  readonly what: string;
  /** Number of its colour, from 1. */
  readonly ink: number;
  isOver: boolean;
  /** Finished episodes of all environments. */
  numEpisodes: number;
  points: readonly HistoryPoint[];
}

/** Part of a run that the tab keeps. */
type Kept = Pick<Run, "name" | "title" | "what" | "numEpisodes" | "points">;

/** Quantities of an episode: their key in a point, and their name. */
export const MEASURES = { lines: "lines", returns: "return", lengths: "steps" } as const;
export type Measure = keyof typeof MEASURES;

/** Horizontal axes. */
export const AXES = ["episodes", "steps", "time"] as const;
export type Axis = (typeof AXES)[number];

/** A point of a line. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** All runs of the tab, by the names of their sessions. */
export class Runs {
  private readonly runs = new Map<string, Run>();
  private count = 0;

  constructor() {
    for (const run of kept("session", NAME, isKept) ?? []) {
      this.runs.set(run.name, { ...run, ink: this.ink(), isOver: true });
    }
  }

  get(name: string | undefined): Run | undefined {
    return this.runs.get(name ?? "");
  }

  has(name: string): boolean {
    return this.runs.has(name);
  }

  values(): Run[] {
    return [...this.runs.values()];
  }

  /** Takes the history of a session, and returns its run. */
  take({ name, title, what }: Pick<Run, "name" | "title" | "what">, { numEpisodes, points }: Pick<History, "numEpisodes" | "points">): Run {
    const run = this.runs.get(name) ?? { name, title, what, ink: this.ink(), isOver: false, numEpisodes, points };
    Object.assign(run, { title, numEpisodes, points, isOver: false });
    this.runs.set(name, run);
    return run;
  }

  /** Stores the curves of the newest runs in the tab. */
  keep(): void {
    const curves = this.values().filter(({ points }) => points.length > 1).slice(-MOST);
    keep("session", NAME, curves.map(({ name, title, what, numEpisodes, points }): Kept => ({ name, title, what, numEpisodes, points })));
  }

  private ink(): number {
    return (this.count++ % INKS) + 1;
  }
}

/** A curve: for each point the mean of at least this many episodes up to it, or of all if there are fewer. */
export function curveOf(points: readonly HistoryPoint[], measure: Measure, axis: Axis, episodes: number): Point[] {
  const count = (at: number) => points[at]!.episodes - (points[at - 1]?.episodes ?? 0);
  let [first, total, sum] = [0, 0, 0];
  return points.map((point, at) => {
    total += count(at);
    sum += count(at) * point[measure].mean;
    while (total - count(first) >= episodes) {
      total -= count(first);
      sum -= count(first) * points[first]![measure].mean;
      first++;
    }
    return { x: { episodes: point.episodes, steps: point.steps, time: point.seconds }[axis], y: sum / total };
  });
}

/** The unit in which times up to this many seconds are shown: its name and its seconds. */
export function unitOf(seconds: number): [name: string, seconds: number] {
  return seconds >= 3 * 3600 ? ["hours", 3600] : seconds >= 180 ? ["minutes", 60] : ["seconds", 1];
}

function isKept(value: unknown): value is Kept[] {
  const isNumber = (value: unknown) => Number.isFinite(value);
  const isPoint = (value: unknown) => {
    const point = (value ?? {}) as Record<string, unknown>;
    const means = Object.keys(MEASURES).map((measure) => (point[measure] as { mean?: unknown } | undefined)?.mean);
    return [point["episodes"], point["steps"], point["seconds"], ...means].every(isNumber);
  };
  const isRun = (value: unknown) => {
    const { name, title, what, numEpisodes, points } = (value ?? {}) as Partial<Kept>;
    return [name, title, what].every((text) => typeof text === "string") && isNumber(numEpisodes) && Array.isArray(points) && points.every(isPoint);
  };
  return Array.isArray(value) && value.every(isRun);
}
