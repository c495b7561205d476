// Scales of charts.

import { grouped, short } from "./dom.js";

/** Round numbers between two bounds, close to the wanted number of them. */
export function ticks(low: number, high: number, wanted: number): number[] {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0)) {
    return [low];
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough)!;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first;
  return Array.from({ length: count + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** Round numbers on a logarithmic axis: powers of ten, with 2 and 5 between them if they are few. */
function decades(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.floor(Math.log10(high))];
  const digits = last - first < 3 ? [1, 2, 5] : [1];
  const all = Array.from({ length: last - first + 1 }, (_, at) => digits.map((digit) => Number((digit * 10 ** (first + at)).toPrecision(1)))).flat();
  const between = all.filter((tick) => tick >= low && tick <= high);
  return between.length >= 2 ? between : ticks(low, high, 4);
}

/** An axis: its bounds, its ticks, and the position of a value, from 0 at `low` to 1 at `high`. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  readonly isLog: boolean;
  place(value: number): number;
}

/** Quotient of the largest and the smallest value from which on an axis is logarithmic, unless the user says otherwise. */
const LOG_SPAN = 100;

/** Options of an axis. */
export interface AxisOptions {
  /** Wanted number of ticks. */
  readonly wanted?: number;
  /** Whether the axis counts in powers of ten; by default if the values span two of them. */
  readonly log?: boolean | undefined;
  /** Whether a linear axis may begin above 0, if all values are far above it. */
  readonly mayBreak?: boolean;
}

/** An axis around numbers. A logarithmic axis needs positive numbers, and others lie on its lower end. */
export function axisOf(numbers: Iterable<number>, { wanted = 5, log, mayBreak = false }: AxisOptions = {}): Axis {
  let [low, high, least] = [Infinity, -Infinity, Infinity];
  for (const value of numbers) {
    if (Number.isFinite(value)) {
      [low, high] = [Math.min(low, value), Math.max(high, value)];
      least = value > 0 ? Math.min(least, value) : least;
    }
  }
  if (low > high) {
    [low, high] = [0, 1];
  }
  if (least < high && (log ?? (low >= 0 && high / least >= LOG_SPAN))) {
    const edge = (high / least) ** 0.03;
    const [from, to] = [least / edge, high * edge];
    const span = Math.log(to / from);
    return { low: from, high: to, ticks: decades(from, to), isLog: true, place: (value) => Math.log(Math.max(value, from) / from) / span };
  }
  const begins = mayBreak && low > 0 && low > high / 4;
  const base = begins ? low : Math.min(0, low);
  const margin = (Math.max(high, 0) - base || high || 1) * 0.05;
  const from = begins ? Math.max(0, base - margin) : base < 0 ? base - margin : 0;
  const to = high > 0 ? high + margin : base < 0 ? 0 : 1;
  return { low: from, high: to, ticks: ticks(from, to, wanted), isLog: false, place: (value) => (value - from) / (to - from) };
}

/** A number at an axis: 12k, 3.4M. */
export function brief(value: number): string {
  const size = Math.abs(value);
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (size >= 10 * unit || (size >= unit && unit > 1e3)) {
      return `${Number((value / unit).toPrecision(3))}${name}`;
    }
  }
  return size >= 1000 ? grouped(value) : short(value);
}
