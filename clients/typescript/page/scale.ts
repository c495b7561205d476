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

/** Bounds of an axis: from 0, and up to 1 if all numbers are 0. */
export function heightOf(numbers: readonly number[]): [low: number, high: number] {
  const [low, high] = numbers.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [0, 0]);
  return [low * 1.05, high > 0 ? high * 1.05 : low < 0 ? 0 : 1];
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
