// The learning curve of a training in the server's own process: that of `tetrion train`.

import type { App, View } from "./app.js";
import { type Series, LineChart } from "./charts.js";
import { grouped, h, short } from "./dom.js";

/** Milliseconds between two looks. */
const PATIENCE = 2000;

/** What `/training` answers: the chart that the run keeps in its folder. */
interface Curve {
  readonly title: string;
  readonly x_label: string;
  readonly y_label: string;
  /** Generations that are done, and in all. */
  readonly done: number;
  readonly generations: number;
  /** The most important first. Points are `[x, y]`, or `[x, y, low, high]`; what is not a number is null. */
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly (number | null)[])[] }[];
}

/** The view. */
export class Training implements View {
  readonly root = h("div", { class: "view training" });
  private readonly chart = new LineChart("Learning curve");
  private readonly legend = h("p", { class: "legend-line" });
  private readonly title = h("h1", {}, "Training");
  private readonly remark = h("p", { class: "lead", "aria-live": "polite" });
  private readonly progress = h("progress", { "aria-label": "Generations done" });
  private readonly table = h("div", { class: "scroll" });
  private readonly found = h("div", { hidden: true });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    this.found.append(
      h("section", { class: "card" }, this.progress, this.chart.surface.canvas, this.legend),
      h("section", { class: "card" }, h("h2", {}, "Numbers"), this.table));
    this.root.append(this.title, this.remark, this.found);
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
      this.app.notice(new Error(this.found.hidden ? "The server does not answer. Trying again …" : "The server does not answer: the training may be over, or stopped."));
      return;
    }
    this.app.notice(undefined);
    if (answer.status !== 200) {
      this.found.hidden = true;
      this.remark.textContent = "No training runs in this server's process. `tetrion train` says the address of its own page when it starts, wherever its games are played. The sessions of other learners are under Sessions.";
      return;
    }
    this.show((await answer.json()) as Curve);
  }

  private show(curve: Curve): void {
    this.found.hidden = false;
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
    this.chart.show([...series].reverse(), { across: curve.x_label, up: curve.y_label });
    this.legend.replaceChildren(...series.flatMap(({ name }, at) => [h("span", { class: `swatch series-${at + 1}` }), name]));
    const latest = [...(series[0]?.points ?? [])].reverse().slice(0, 50);
    const rows = latest.map(({ x, low, high }) => {
      const values = series.map(({ points }) => points.find((point) => point.x === x)?.y ?? NaN);
      const interval = Number.isFinite(low) ? `${short(low!)} to ${short(high!)}` : "–";
      return h("tr", {}, h("th", { scope: "row" }, grouped(x)), ...values.map((y) => h("td", {}, short(y))), h("td", {}, interval));
    });
    const head = [curve.x_label, ...series.map(({ name }) => name), "interval"];
    this.table.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows)));
  }
}
