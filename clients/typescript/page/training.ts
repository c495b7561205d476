// The view "Training": the learning curve of `tetrion train`, which runs in the server's process. Curves of finished trainings stay
// while the tab is open.

import type { App, View } from "./app.js";
import { type Point, type Series, LineChart, Spark } from "./charts.js";
import { grouped, h, scroll, short } from "./dom.js";
import { keep, kept } from "./kept.js";

/** Milliseconds between two updates. */
const PATIENCE = 2000;

/** Answer of `/training`: the chart in the run's folder, and the weights of a search. */
interface Curve {
  readonly title: string;
  readonly x_label: string;
  readonly y_label: string;
  /** Number of finished generations, and of all. */
  readonly done: number;
  readonly generations: number;
  /** The most important first. Points are `[x, y]`, or `[x, y, low, high]`; what is not a number is null. */
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly (number | null)[])[] }[];
  /** Mean and deviation of each weight in each generation; absent if learning has no weights per feature. */
  readonly weights?: { readonly features: readonly string[]; readonly means: readonly (readonly number[])[]; readonly deviations: readonly (readonly number[])[] };
}

/** Maximum number of curves that the tab keeps. */
const MOST = 6;
const KEPT = "tetrion-curves";

/** The view. */
export class Training implements View {
  readonly root = h("div", { class: "view training" });
  private readonly chart = new LineChart("Learning curve", { file: "tetrion-training" });
  private readonly legend = h("p", { class: "legend-line" });
  private readonly title = h("h1", {}, "Training");
  private readonly remark = h("p", { class: "lead", "aria-live": "polite" });
  private readonly progress = h("progress", { "aria-label": "Generations done" });
  private readonly table = scroll("Numbers per generation");
  private readonly weightRows = h("div", { class: "sparks" });
  private readonly weighed = h("section", { class: "card", hidden: true },
    h("h2", {}, "Weights over generations"),
    h("p", { class: "source" }, "Mean of each weight and its deviation, as a share of the largest weight of the generation: only the ratios of weights decide. The grey line is 0."),
    this.weightRows);
  private sparks = new Map<string, { readonly spark: Spark; readonly now: HTMLElement }>();
  private readonly found = h("div", { hidden: true });
  private readonly empty = h("section", { class: "card", hidden: true },
    h("h2", {}, "Start one"),
    h("pre", { tabIndex: 0 }, h("code", {}, "tetrion train")),
    h("p", {}, "It prints the address of a page with its curve under Training, even if its games run on other servers. Sessions of other learners are under ", h("a", { href: "#sessions" }, "Sessions"), ". ", h("code", {}, "docs/training.md"), " explains training."));
  /** Curves so far, the newest last. */
  private curves: Curve[] = keptCurves();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    this.found.append(
      h("section", { class: "card" }, this.progress, this.chart.tools, this.chart.surface.canvas, this.legend),
      this.weighed,
      h("section", { class: "card" }, h("h2", {}, "Numbers"), this.table));
    this.root.append(this.title, this.remark, this.empty, this.found);
  }

  enter(): void {
    void this.look();
  }

  leave(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.app.notice(undefined);
  }

  private async look(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), PATIENCE);
    let answer: Response;
    try {
      answer = await fetch("/training", { headers: this.app.credentials, cache: "no-store" });
    } catch {
      if (this.curves.length === 0) {
        this.app.notice(new Error("The server does not answer. Trying again …"));
      } else {
        this.over();
      }
      return;
    }
    this.app.notice(undefined);
    if (answer.status === 200) {
      this.take((await answer.json()) as Curve);
    } else if (this.curves.length > 0) {
      this.over();
    } else {
      this.empty.hidden = false;
      this.remark.textContent = "No training runs in this server's process.";
    }
  }

  /** Takes an update of the current training, or the first one of a new training. */
  private take(curve: Curve): void {
    const last = this.curves.at(-1);
    const isSame = last?.title === curve.title && last.done <= curve.done;
    this.curves = [...(isSame ? this.curves.slice(0, -1) : this.curves), curve].slice(-MOST);
    keep("session", KEPT, this.curves);
    this.show(curve);
  }

  /** Shows that the last training has ended. Its curve stays. */
  private over(): void {
    const curve = this.curves.at(-1)!;
    this.show(curve);
    const end = curve.done >= curve.generations ? "The training is over." : "The training has ended, or its server does not answer.";
    this.remark.textContent = `${end} ${this.remark.textContent} The curve stays while this tab is open.`;
  }

  private show(curve: Curve): void {
    this.found.hidden = false;
    this.empty.hidden = true;
    this.title.textContent = curve.title;
    const value = (number: number | null | undefined) => number ?? NaN;
    const series = curve.lines.map(({ name, points }, at): Series => ({
      name,
      ink: `--series-${at + 1}`,
      points: points.map(([x, y, low, high]) => ({ x: value(x), y: value(y), low: value(low), high: value(high) })),
    }));
    const last = series[0]?.points.at(-1);
    this.remark.textContent = last === undefined
      ? `Generation 1 of ${curve.generations} is being played.`
      : `${curve.done} of ${curve.generations} generations: ${short(last.y)} ${curve.y_label}${Number.isFinite(last.low) ? `, ${short(last.low!)} to ${short(last.high!)}` : ""}.`;
    this.progress.max = curve.generations;
    this.progress.value = curve.done;
    this.chart.surface.label = `Learning curve. ${this.remark.textContent}`;
    const earlier = this.curves.slice(0, -1).filter(({ x_label, y_label }) => x_label === curve.x_label && y_label === curve.y_label);
    const faded = earlier.map(({ title, lines }): Series => ({ name: title, ink: "--series-6", points: (lines[0]?.points ?? []).map(([x, y]) => ({ x: value(x), y: value(y) })) }));
    this.chart.show([...faded, ...[...series].reverse()], { across: curve.x_label, up: curve.y_label });
    this.legend.replaceChildren(
      ...series.flatMap(({ name }, at) => [h("span", { class: `swatch series-${at + 1}` }), name]),
      ...faded.flatMap(({ name }) => [h("span", { class: "swatch series-6" }), `earlier: ${name}`]));
    this.showWeights(curve);
    const latest = [...(series[0]?.points ?? [])].reverse().slice(0, 50);
    const interval = ({ low = NaN, high = NaN }: Point) => (Number.isFinite(low) && Number.isFinite(high) ? ` (${short(low)} to ${short(high)})` : "");
    const rows = latest.map(({ x }) => h("tr", {}, h("th", { scope: "row" }, grouped(x)), ...series.map(({ points }) => {
      const point = points.find((point) => point.x === x);
      return h("td", {}, point === undefined ? "–" : `${short(point.y)}${interval(point)}`);
    })));
    const head = [curve.x_label, ...series.map(({ name }) => name)];
    this.table.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows)));
  }

  /** Shows the weights of a search. */
  private showWeights({ weights }: Curve): void {
    this.weighed.hidden = weights === undefined || weights.means.length === 0;
    if (weights === undefined) {
      return;
    }
    const { features, means, deviations } = weights;
    if (String([...this.sparks.keys()]) !== String(features)) {
      this.sparks.forEach(({ spark }) => spark.surface.drop());
      this.sparks = new Map(features.map((name) => [name, { spark: new Spark(`Weight of ${name}`), now: h("output", { class: "number" }) }]));
      this.weightRows.replaceChildren(...[...this.sparks].map(([name, { spark, now }]) => h("div", { class: "spark-row" }, h("span", { class: "name" }, name.replaceAll("_", " ")), spark.surface.canvas, now)));
    }
    const sizes = means.map((mean) => Math.max(...mean.map(Math.abs), Number.MIN_VALUE));
    features.forEach((name, at) => {
      const { spark, now } = this.sparks.get(name)!;
      const points = means.map((mean, x): Point => {
        const [y, spread] = [mean[at]! / sizes[x]!, deviations[x]![at]! / sizes[x]!];
        return { x, y, low: Math.max(-1.5, y - spread), high: Math.min(1.5, y + spread) };
      });
      spark.show(points, [-1.5, 1.5]);
      now.textContent = short(means.at(-1)?.[at] ?? NaN);
      spark.surface.label = `Weight of ${name}: ${now.textContent} in the last generation`;
    });
  }
}

function keptCurves(): Curve[] {
  const isLine = (line: unknown) => Array.isArray((line as Partial<Curve["lines"][number]> | null)?.points);
  const isCurve = (curve: unknown) => {
    const { title, lines } = (curve ?? {}) as Partial<Curve>;
    return typeof title === "string" && Array.isArray(lines) && lines.every(isLine);
  };
  return kept("session", KEPT, (value): value is Curve[] => Array.isArray(value) && value.every(isCurve)) ?? [];
}
