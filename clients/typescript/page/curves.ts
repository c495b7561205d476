// The learning curves of the view "Sessions": all learners in one chart.

import type { Choices, Reader } from "./address.js";
import { LineChart } from "./charts.js";
import { field, grouped, h, select, short } from "./dom.js";
import { AXES, type Axis, MEASURES, type Measure, type Run, curveOf, unitOf } from "./runs.js";

/** Choices for the number of episodes per mean. */
const EPISODES = ["1", "10", "50", "200", "1000"];
/** The usual choices. */
const USUAL = { show: "lines", over: "episodes", mean: "50" } as const;

/** The card with the curves. */
export class Curves {
  readonly element: HTMLElement;
  private readonly chart = new LineChart("Learning curves", { file: "learning-curves" });
  private readonly measure: HTMLSelectElement;
  private readonly axis: HTMLSelectElement;
  private readonly episodes: HTMLSelectElement;
  private readonly legend = h("p", { class: "legend-line" });
  private runs: readonly Run[] = [];

  /** `changed` is called when the user makes a choice. */
  constructor(address: Reader, changed: () => void) {
    const choose = () => {
      changed();
      this.draw();
    };
    const measures = Object.keys(MEASURES) as Measure[];
    this.measure = select(measures.map((measure) => [measure, MEASURES[measure]]), address.oneOf("show", measures) ?? USUAL.show, choose);
    this.axis = select(AXES.map((axis) => [axis, axis]), address.oneOf("over", AXES) ?? USUAL.over, choose);
    this.episodes = select(EPISODES.map((number) => [number, number === "1" ? "none" : `${grouped(Number(number))} episodes`]), address.oneOf("mean", EPISODES) ?? USUAL.mean, choose);
    this.element = h("section", { class: "card curves", hidden: true },
      h("h2", {}, "Learning curves"),
      h("div", { class: "fields" }, field("Show", this.measure), field("Over", this.axis), field("Smoothing", this.episodes, "A point is the mean of this many episodes up to it"), this.chart.tools),
      this.chart.surface.canvas,
      this.legend);
  }

  /** Choices other than the usual ones. */
  choices(): Choices {
    const chosen = { show: this.measure.value, over: this.axis.value, mean: this.episodes.value };
    return Object.fromEntries(Object.entries(chosen).filter(([name, value]) => value !== USUAL[name as keyof typeof USUAL]));
  }

  /** Shows the curves of runs, the most important one last. Without a finished episode the card is hidden. */
  show(runs: readonly Run[]): void {
    this.runs = runs.filter(({ points }) => points.length > 0);
    this.draw();
  }

  private draw(): void {
    const [measure, axis, episodes] = [this.measure.value as Measure, this.axis.value as Axis, Number(this.episodes.value)];
    this.element.hidden = this.runs.length === 0;
    const [unit, size] = unitOf(Math.max(0, ...this.runs.map(({ points }) => points.at(-1)?.seconds ?? 0)));
    const lines = this.runs.map((run) => {
      const curve = curveOf(run.points, measure, axis, episodes);
      return { run, points: axis === "time" ? curve.map(({ x, y }) => ({ x: x / size, y })) : curve };
    });
    const name = MEASURES[measure];
    this.chart.show(lines.map(({ run, points }) => ({ name: run.title, ink: `--series-${run.ink}`, points })), { across: axis === "time" ? unit : axis, up: measure === "lengths" ? "steps per episode" : name });
    const legend = lines.map(({ run, points }) => ({ run, words: `${run.title}: ${short(points.at(-1)!.y)}${run.isOver ? ", ended" : ""}` })).reverse();
    const words = legend.map(({ run, words }) => `${run.ink} ${words}`).join("\n");
    if (this.legend.dataset["lines"] !== words) {
      this.legend.dataset["lines"] = words;
      this.legend.replaceChildren(...legend.map(({ run, words }) => h("span", {}, h("span", { class: `swatch series-${run.ink}` }), words)));
    }
    const ends = legend.map(({ run, words }) => `${words} (${grouped(run.numEpisodes)} episodes)`);
    this.chart.surface.label = `Learning curves, ${name} over ${axis}: ${ends.join("; ")}`;
  }
}
