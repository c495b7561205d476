// Two charts: lines with intervals, and distributions.

import { short } from "./dom.js";
import { brief, heightOf, ticks } from "./scale.js";
import { Surface, colour } from "./surface.js";

/** A line with a band around it. */
export interface Series {
  readonly name: string;
  /** A colour of the style sheet. */
  readonly ink: string;
  readonly points: readonly { readonly x: number; readonly y: number; readonly low?: number; readonly high?: number }[];
}

const EDGE = { left: 64, right: 14, top: 12, bottom: 34 };

/** A line chart. */
export class LineChart {
  readonly surface: Surface;
  private series: readonly Series[] = [];
  private names = { across: "", up: "" };

  constructor(label: string) {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), "chart", label);
  }

  /** Shows lines, the most important last. `across` and `up` are the labels of the axes. */
  show(series: readonly Series[], names: { across: string; up: string }): void {
    [this.series, this.names] = [series, names];
    this.surface.redraw();
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const points = this.series.flatMap((series) => series.points);
    const finite = (numbers: (number | undefined)[]) => numbers.filter((value): value is number => value !== undefined && Number.isFinite(value));
    const xs = finite(points.map(({ x }) => x));
    const ys = finite(points.flatMap(({ y, low, high }) => [y, low, high]));
    const [left, right] = [Math.min(0, ...xs), Math.max(1, ...xs)];
    const [low, high] = heightOf(ys);
    const x = (value: number) => EDGE.left + ((value - left) / (right - left)) * (width - EDGE.left - EDGE.right);
    const y = (value: number) => height - EDGE.bottom - ((value - low) / (high - low)) * (height - EDGE.top - EDGE.bottom);
    axes(pen, width, height, this.names);
    for (const tick of ticks(low, high, height / 50)) {
      ruler(pen, EDGE.left, y(tick), width - EDGE.right, y(tick));
      text(pen, brief(tick), EDGE.left - 6, y(tick), "right", "middle");
    }
    for (const tick of ticks(left, right, Math.min(right - left, width / 90))) {
      text(pen, brief(tick), x(tick), height - EDGE.bottom + 6, "center", "top");
    }
    for (const { ink, points } of this.series) {
      const drawn = points.filter((point) => Number.isFinite(point.y));
      const banded = drawn.filter((point) => Number.isFinite(point.low) && Number.isFinite(point.high));
      pen.fillStyle = colour(ink);
      pen.globalAlpha = 0.18;
      pen.beginPath();
      banded.forEach((point) => pen.lineTo(x(point.x), y(point.high!)));
      [...banded].reverse().forEach((point) => pen.lineTo(x(point.x), y(point.low!)));
      pen.fill();
      pen.globalAlpha = 1;
      pen.strokeStyle = colour(ink);
      pen.lineWidth = 2;
      pen.lineJoin = "round";
      pen.beginPath();
      drawn.forEach((point) => pen.lineTo(x(point.x), y(point.y)));
      pen.stroke();
      const last = drawn.at(-1);
      if (last !== undefined) {
        pen.fillStyle = colour(ink);
        pen.beginPath();
        pen.arc(x(last.x), y(last.y), 3, 0, 2 * Math.PI);
        pen.fill();
      }
    }
  }
}

/** Results of a controller. */
export interface Distribution {
  readonly name: string;
  readonly ink: string;
  readonly values: readonly number[];
  readonly mean: number;
  readonly halfWidth: number;
}

/** A chart of distributions: one strip per controller on a shared logarithmic scale, with the interval of the mean. */
export class StripChart {
  readonly surface: Surface;
  private strips: readonly Distribution[] = [];
  private across = "";

  constructor(label: string) {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), "chart strips", label);
  }

  /** Shows strips. `across` is the label of the axis. */
  show(strips: readonly Distribution[], across: string): void {
    [this.strips, this.across] = [strips, across];
    this.surface.canvas.style.setProperty("--strips", String(strips.length));
    this.surface.redraw();
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const edge = { left: 14, right: 14, top: 6, bottom: 34 };
    const highest = this.strips.reduce((most, { values }) => values.reduce((most, value) => Math.max(most, value), most), 10);
    const top = Math.log10(highest + 1) * 1.03;
    const x = (value: number) => edge.left + (Math.log10(Math.max(0, value) + 1) / top) * (width - edge.left - edge.right);
    text(pen, this.across, width - edge.right, height - 4, "right", "bottom");
    const floor = height - edge.bottom;
    const decades = [0, ...Array.from({ length: Math.ceil(top) }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat()];
    let lastLabel = -Infinity;
    for (const tick of decades.filter((value) => Math.log10(value + 1) <= top)) {
      ruler(pen, x(tick), edge.top, x(tick), floor);
      if (x(tick) - lastLabel > 40) {
        text(pen, brief(tick), x(tick), floor + 5, "center", "top");
        lastLabel = x(tick);
      }
    }
    const tall = (floor - edge.top) / Math.max(1, this.strips.length);
    const bins = Math.max(12, Math.min(72, Math.floor((width - 28) / 9)));
    this.strips.forEach(({ name, ink, values, mean, halfWidth }, number) => {
      const base = edge.top + (number + 1) * tall - 12;
      const counts = new Array<number>(bins).fill(0);
      for (const value of values) {
        counts[Math.min(bins - 1, Math.floor((Math.log10(value + 1) / top) * bins))]! += 1;
      }
      const most = Math.max(1, ...counts);
      const wide = (width - edge.left - edge.right) / bins;
      pen.fillStyle = colour(ink);
      pen.globalAlpha = 0.55;
      counts.forEach((count, bin) => {
        if (count > 0) {
          const bar = Math.max(1.5, (count / most) * (tall - 38));
          pen.beginPath();
          pen.roundRect(edge.left + bin * wide + 0.5, base - bar, wide - 1, bar, [2, 2, 0, 0]);
          pen.fill();
        }
      });
      pen.globalAlpha = 1;
      pen.strokeStyle = colour(ink);
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(edge.left, base);
      pen.lineTo(width - edge.right, base);
      pen.stroke();
      const [y, sum] = [edge.top + number * tall + 3, Number.isFinite(halfWidth) ? `   ${short(mean)} ± ${short(halfWidth)}` : ""];
      text(pen, name, edge.left, y, "left", "top", "--text");
      text(pen, sum, edge.left + pen.measureText(name).width, y, "left", "top");
      if (values.length > 0) {
        const [from, to] = Number.isFinite(halfWidth) ? [mean - halfWidth, mean + halfWidth] : [mean, mean];
        pen.lineWidth = 4;
        pen.lineCap = "round";
        pen.beginPath();
        pen.moveTo(x(from), base + 5);
        pen.lineTo(x(to), base + 5);
        pen.stroke();
        pen.fillStyle = colour("--text");
        pen.beginPath();
        pen.arc(x(mean), base + 5, 3.5, 0, 2 * Math.PI);
        pen.fill();
      }
    });
  }
}

function axes(pen: CanvasRenderingContext2D, width: number, height: number, { across, up }: { across: string; up: string }): void {
  text(pen, across, width - EDGE.right, height - 2, "right", "bottom");
  pen.save();
  pen.translate(8, EDGE.top);
  pen.rotate(-Math.PI / 2);
  text(pen, up, 0, 0, "right", "middle");
  pen.restore();
}

function ruler(pen: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  pen.strokeStyle = colour("--line");
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
  pen.stroke();
}

function text(pen: CanvasRenderingContext2D, words: string, x: number, y: number, align: CanvasTextAlign, base: CanvasTextBaseline, ink = "--muted"): void {
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = colour(ink);
  pen.textAlign = align;
  pen.textBaseline = base;
  pen.fillText(words, x, y);
}
