// Charts: lines with intervals, distributions of games, and small curves of weights. Under the pointer they show their values; a
// line chart can be logarithmic, and gives its numbers as CSV.

import { button, h, save, short } from "./dom.js";
import { type Axis, axisOf, brief, ticks } from "./scale.js";
import { Surface, colour } from "./surface.js";

/** A point of a line, with the interval around it. */
export interface Point {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
}

/** A line with a band around it. */
export interface Series {
  readonly name: string;
  /** A colour of the style sheet. */
  readonly ink: string;
  readonly points: readonly Point[];
}

/** Options of a line chart. */
export interface LineChartOptions {
  /** Name of the file that users save, without its ending. */
  readonly file?: string;
  /** Whether the vertical axis may begin above 0. */
  readonly mayBreak?: boolean;
  /** Whether the vertical axis is logarithmic before the user chooses. Without it the numbers decide. */
  readonly log?: boolean;
}

const EDGE = { left: 64, right: 14, top: 12, bottom: 34 };

/** A line chart. */
export class LineChart {
  readonly surface: Surface;
  /** Controls of the chart: a logarithmic axis, and a file with its numbers. */
  readonly tools: HTMLElement;
  private series: readonly Series[] = [];
  private names = { across: "", up: "" };
  /** The user's choice of the vertical axis; undefined before one. */
  private isLog: boolean | undefined;
  private readonly log = h("input", { type: "checkbox", onchange: () => this.choose(this.log.checked) });
  /** Horizontal position of the pointer in CSS pixels. */
  private pointer: number | undefined;

  constructor(label: string, private readonly options: LineChartOptions = {}) {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), "chart", label);
    this.isLog = options.log;
    this.tools = h("div", { class: "chart-tools" },
      h("label", {}, this.log, "Logarithmic"),
      button("Save CSV", () => save(`${options.file ?? "curve"}.csv`, "text/csv", this.csv()), "quiet"));
    follow(this.surface, (place) => (this.pointer = place?.x));
  }

  /** Shows lines, the most important last. `across` and `up` are the labels of the axes. */
  show(series: readonly Series[], names: { across: string; up: string }): void {
    [this.series, this.names] = [series, names];
    this.log.checked = this.axis().isLog;
    this.surface.redraw();
  }

  /** The points as CSV, one per line. */
  csv(): string {
    const { across, up } = this.names;
    const rows = this.series.flatMap(({ name, points }) => points.map(({ x, y, low, high }) => [name, x, y, low, high]));
    return csvOf(["line", across, up, "low", "high"], rows);
  }

  private choose(isLog: boolean): void {
    this.isLog = isLog;
    this.surface.redraw();
  }

  private axis(height = 250): Axis {
    const numbers = this.series.flatMap(({ points }) => points.flatMap(({ y, low, high }, at) =>
      // The first intervals of a growing sample are wide, and would flatten the rest.
      this.options.mayBreak === true && at < points.length / 4 && points.length > 8 ? [y] : [y, low ?? NaN, high ?? NaN]));
    const positive = this.isLog === true ? numbers.filter((value) => value > 0) : numbers;
    return axisOf(positive, { wanted: height / 50, log: this.isLog, mayBreak: this.options.mayBreak ?? false });
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const xs = this.series.flatMap(({ points }) => points.map(({ x }) => x)).filter(Number.isFinite);
    const [left, right] = xs.reduce(([left, right], x) => [Math.min(left, x), Math.max(right, x)], [0, 1]);
    const up = this.axis(height);
    const [base, tall] = [height - EDGE.bottom, height - EDGE.top - EDGE.bottom];
    const x = (value: number) => EDGE.left + ((value - left) / (right - left)) * (width - EDGE.left - EDGE.right);
    const y = (value: number) => base - up.place(value) * tall;
    axes(pen, width, height, this.names);
    for (const tick of up.ticks) {
      ruler(pen, EDGE.left, y(tick), width - EDGE.right, y(tick));
      text(pen, brief(tick), EDGE.left - 6, y(tick), "right", "middle");
    }
    for (const tick of ticks(left, right, Math.min(right - left, width / 90))) {
      text(pen, brief(tick), x(tick), base + 6, "center", "top");
    }
    if (!up.isLog && up.low > 0) {
      torn(pen, EDGE.left, base);
      text(pen, `from ${brief(up.low)}`, EDGE.left - 6, base + 6, "right", "top");
    }
    pen.save();
    pen.beginPath();
    pen.rect(EDGE.left, EDGE.top - 4, width - EDGE.left, tall + 8);
    pen.clip();
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
        dot(pen, x(last.x), y(last.y), ink);
      }
    }
    pen.restore();
    if (this.pointer !== undefined && xs.length > 0) {
      this.point(pen, width, height, this.pointer, { x, y });
    }
  }

  /** Shows the values at the point nearest to the pointer. */
  private point(pen: CanvasRenderingContext2D, width: number, height: number, pointer: number, { x, y }: Record<"x" | "y", (value: number) => number>): void {
    const nearest = (points: readonly Point[]) => points.filter((point) => Number.isFinite(point.y)).reduce<Point | undefined>(
      (best, point) => (best !== undefined && Math.abs(x(best.x) - pointer) <= Math.abs(x(point.x) - pointer) ? best : point), undefined);
    const found = [...this.series].reverse().flatMap(({ name, ink, points }) => {
      const point = nearest(points);
      return point === undefined ? [] : [{ name, ink, point }];
    });
    const at = nearest(found.map(({ point }) => point));
    if (at === undefined) {
      return;
    }
    // Other lines may have no point there, or have ended.
    const near = found.filter(({ point }) => Math.abs(x(point.x) - x(at.x)) <= 4);
    ruler(pen, x(at.x), EDGE.top, x(at.x), height - EDGE.bottom, "--muted");
    near.forEach(({ ink, point }) => dot(pen, x(point.x), y(point.y), ink));
    const band = ({ low, high }: Point) => (Number.isFinite(low) && Number.isFinite(high) ? `, ${short(low!)} to ${short(high!)}` : "");
    const rows = near.map(({ name, ink, point }) => ({ ink, words: `${name}: ${short(point.y)}${band(point)}` }));
    note(pen, width, x(at.x), EDGE.top, `${this.names.across} ${short(at.x)}`, rows);
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

/** A bar of a distribution: the indices of its values. */
interface Bar {
  readonly strip: number;
  readonly values: readonly number[];
  readonly low: number;
  readonly high: number;
}

/** A chart of distributions: one strip per controller on a shared axis, with the interval of the mean. */
export class StripChart {
  readonly surface: Surface;
  private strips: readonly Distribution[] = [];
  private across = "";
  private pointer: { readonly x: number; readonly y: number } | undefined;
  private bars: (Bar & { readonly box: readonly [x: number, y: number, width: number, height: number] })[] = [];

  /** With the label of the canvas. `open` is called with a strip and the index of a value when the user clicks on its bar. */
  constructor(label: string, private readonly open: (strip: number, value: number) => void) {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), "chart strips", label);
    const { canvas } = this.surface;
    follow(this.surface, (place) => {
      this.pointer = place;
      canvas.classList.toggle("pressable", this.pointed() !== undefined);
    });
    canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      const bar = this.pointed({ x: offsetX, y: offsetY });
      if (bar !== undefined) {
        const { values } = this.strips[bar.strip]!;
        const sorted = [...bar.values].sort((one, other) => values[one]! - values[other]!);
        this.open(bar.strip, sorted[sorted.length >> 1]!);
      }
    });
  }

  /** Shows strips. `across` is the label of the axis. */
  show(strips: readonly Distribution[], across: string): void {
    [this.strips, this.across] = [strips, across];
    this.surface.canvas.style.setProperty("--strips", String(strips.length));
    this.surface.redraw();
  }

  /** The axis: around the values, logarithmic if they span two powers of ten. */
  get axis(): Axis {
    return axisOf(this.strips.flatMap(({ values }) => values), { wanted: 8, mayBreak: true });
  }

  /** The bar at a place, in the whole height of its strip. */
  private pointed(place = this.pointer): Bar | undefined {
    return place && this.bars.find(({ box: [x, y, width, height] }) => place.x >= x && place.x < x + width && place.y >= y && place.y < y + height);
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const edge = { left: 14, right: 14, top: 6, bottom: 34 };
    const { axis } = this;
    const wide = width - edge.left - edge.right;
    const x = (value: number) => edge.left + axis.place(value) * wide;
    text(pen, this.across, width - edge.right, height - 4, "right", "bottom");
    const floor = height - edge.bottom;
    let lastLabel = -Infinity;
    for (const tick of axis.ticks) {
      ruler(pen, x(tick), edge.top, x(tick), floor);
      if (x(tick) - lastLabel > 40) {
        text(pen, brief(tick), x(tick), floor + 5, "center", "top");
        lastLabel = x(tick);
      }
    }
    if (!axis.isLog && axis.low > 0) {
      torn(pen, edge.left, floor);
      text(pen, `axis from ${brief(axis.low)}`, edge.left, height - 4, "left", "bottom");
    } else if (axis.isLog) {
      text(pen, `logarithmic, from ${brief(axis.low)}`, edge.left, height - 4, "left", "bottom");
    }
    const tall = (floor - edge.top) / Math.max(1, this.strips.length);
    const bins = Math.max(12, Math.min(72, Math.floor((width - 28) / 9)));
    const column = wide / bins;
    const binOf = (value: number) => Math.max(0, Math.min(bins - 1, Math.floor(axis.place(value) * bins)));
    const area = (strip: number) => ({ top: edge.top + strip * tall, base: edge.top + (strip + 1) * tall - 12 });
    this.bars = this.strips.flatMap(({ values }, strip) => {
      const games: number[][] = Array.from({ length: bins }, () => []);
      values.forEach((value, at) => games[binOf(value)]!.push(at));
      const { top, base } = area(strip);
      return games.flatMap((inside, bin) => {
        const numbers = inside.map((at) => values[at]!);
        return inside.length === 0 ? [] : [{ strip, values: inside, low: Math.min(...numbers), high: Math.max(...numbers), box: [edge.left + bin * column, top, column, base - top + 4] as const }];
      });
    });
    const chosen = this.pointed();
    this.strips.forEach(({ name, ink, values, mean, halfWidth }, strip) => {
      const { top, base } = area(strip);
      const bars = this.bars.filter((bar) => bar.strip === strip);
      const most = Math.max(1, ...bars.map(({ values }) => values.length));
      pen.fillStyle = colour(ink);
      for (const bar of bars) {
        const [left, high] = [bar.box[0], Math.max(1.5, (bar.values.length / most) * (tall - 38))];
        pen.globalAlpha = bar === chosen ? 1 : 0.55;
        pen.beginPath();
        pen.roundRect(left + 0.5, base - high, column - 1, high, [2, 2, 0, 0]);
        pen.fill();
      }
      pen.globalAlpha = 1;
      pen.strokeStyle = colour(ink);
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(edge.left, base);
      pen.lineTo(width - edge.right, base);
      pen.stroke();
      const [y, sum] = [top + 3, Number.isFinite(halfWidth) ? `   ${short(mean)} ± ${short(halfWidth)}` : ""];
      text(pen, name, edge.left, y, "left", "top", "--text");
      text(pen, sum, edge.left + pen.measureText(name).width, y, "left", "top");
      if (values.length > 0) {
        const [from, to] = Number.isFinite(halfWidth) ? [mean - halfWidth, mean + halfWidth] : [mean, mean];
        const within = (value: number) => Math.max(edge.left, Math.min(width - edge.right, x(value)));
        pen.lineWidth = 4;
        pen.lineCap = "round";
        pen.beginPath();
        pen.moveTo(within(from), base + 5);
        pen.lineTo(within(to), base + 5);
        pen.stroke();
        dot(pen, within(mean), base + 5, "--text");
      }
    });
    if (chosen !== undefined && this.pointer !== undefined) {
      const { name, ink } = this.strips[chosen.strip]!;
      const { length } = chosen.values;
      const span = chosen.low === chosen.high ? short(chosen.low) : `${short(chosen.low)} to ${short(chosen.high)}`;
      note(pen, width, this.pointer.x, area(chosen.strip).top + 18, `${length} ${length === 1 ? "game" : "games"}: ${span}`, [{ ink, words: `${name}: click to open ${length === 1 ? "it" : "one"}` }]);
    }
  }
}

/** A small curve of a number over generations, with the band around it; 0 is a line. */
export class Spark {
  readonly surface: Surface;
  private points: readonly Point[] = [];
  private span: readonly [low: number, high: number] = [-1, 1];

  constructor(label: string) {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), "spark", label);
  }

  /** Shows points between two bounds, which several curves can share. */
  show(points: readonly Point[], span: readonly [low: number, high: number]): void {
    [this.points, this.span] = [points, span];
    this.surface.redraw();
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const [low, high] = this.span;
    const [first, last] = [this.points[0]?.x ?? 0, this.points.at(-1)?.x ?? 1];
    const x = (value: number) => 2 + ((value - first) / Math.max(1, last - first)) * (width - 5);
    const y = (value: number) => height - 2 - ((value - low) / (high - low || 1)) * (height - 4);
    ruler(pen, 0, y(0), width, y(0));
    pen.fillStyle = pen.strokeStyle = colour("--series-1");
    pen.globalAlpha = 0.18;
    pen.beginPath();
    this.points.forEach((point) => pen.lineTo(x(point.x), y(point.high ?? point.y)));
    [...this.points].reverse().forEach((point) => pen.lineTo(x(point.x), y(point.low ?? point.y)));
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.beginPath();
    this.points.forEach((point) => pen.lineTo(x(point.x), y(point.y)));
    pen.stroke();
    const end = this.points.at(-1);
    if (end !== undefined) {
      dot(pen, x(end.x), y(end.y), "--series-1", 2);
    }
  }
}

/** Rows as CSV. Missing numbers are empty. */
export function csvOf(head: readonly string[], rows: readonly (readonly (string | number | bigint | undefined)[])[]): string {
  const cell = (value: string | number | bigint | undefined) => {
    const words = value === undefined || (typeof value === "number" && !Number.isFinite(value)) ? "" : String(value);
    return /[",\n\r]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
  };
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Calls `move` with the place of the pointer over a surface, or with nothing when it leaves, and repaints. */
function follow(surface: Surface, move: (place: { readonly x: number; readonly y: number } | undefined) => void): void {
  const { canvas } = surface;
  for (const kind of ["pointermove", "pointerdown"] as const) {
    canvas.addEventListener(kind, ({ offsetX, offsetY }) => {
      move({ x: offsetX, y: offsetY });
      surface.redraw();
    });
  }
  canvas.addEventListener("pointerleave", () => {
    move(undefined);
    surface.redraw();
  });
}

/** A box with a heading and lines, beside a place. */
function note(pen: CanvasRenderingContext2D, width: number, x: number, top: number, heading: string, rows: readonly { readonly ink: string; readonly words: string }[]): void {
  pen.font = FONT;
  const wide = Math.max(pen.measureText(heading).width, ...rows.map(({ words }) => pen.measureText(words).width + 14)) + 16;
  const left = x + 10 + wide <= width ? x + 10 : Math.max(0, x - 10 - wide);
  pen.fillStyle = colour("--surface");
  pen.strokeStyle = colour("--line");
  pen.lineWidth = 1;
  pen.beginPath();
  pen.roundRect(left + 0.5, top + 0.5, wide, 16 * (rows.length + 1) + 10, 6);
  pen.fill();
  pen.stroke();
  text(pen, heading, left + 8, top + 6, "left", "top", "--text");
  rows.forEach(({ ink, words }, row) => {
    const y = top + 6 + 16 * (row + 1);
    pen.fillStyle = colour(ink);
    pen.fillRect(left + 8, y + 2, 8, 8);
    text(pen, words, left + 22, y, "left", "top");
  });
}

function dot(pen: CanvasRenderingContext2D, x: number, y: number, ink: string, radius = 3): void {
  pen.fillStyle = colour(ink);
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

/** Two strokes through an axis that does not begin at 0. */
function torn(pen: CanvasRenderingContext2D, x: number, y: number): void {
  pen.strokeStyle = colour("--muted");
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const shift of [-3, 1]) {
    pen.moveTo(x - 5, y + shift + 3);
    pen.lineTo(x + 5, y + shift - 3);
  }
  pen.stroke();
}

function axes(pen: CanvasRenderingContext2D, width: number, height: number, { across, up }: { across: string; up: string }): void {
  text(pen, across, width - EDGE.right, height - 2, "right", "bottom");
  pen.save();
  pen.translate(8, EDGE.top);
  pen.rotate(-Math.PI / 2);
  text(pen, up, 0, 0, "right", "middle");
  pen.restore();
}

function ruler(pen: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number, ink = "--line"): void {
  pen.strokeStyle = colour(ink);
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
  pen.stroke();
}

const FONT = "12px system-ui, sans-serif";

function text(pen: CanvasRenderingContext2D, words: string, x: number, y: number, align: CanvasTextAlign, base: CanvasTextBaseline, ink = "--muted"): void {
  pen.font = FONT;
  pen.fillStyle = colour(ink);
  pen.textAlign = align;
  pen.textBaseline = base;
  pen.fillText(words, x, y);
}
