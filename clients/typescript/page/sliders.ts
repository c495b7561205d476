// The weights of a controller: one slider per feature, and the feature's part in the lead of the chosen placement.

import { button, h, short } from "./dom.js";
import { signed } from "./reasons.js";
import type { Lead, Weighing } from "./weighing.js";

/** The sliders. Calls `change` whenever a weight has changed. */
export class Sliders {
  readonly element: HTMLElement;
  private bars: HTMLElement[] = [];
  private values: HTMLElement[] = [];

  constructor(private readonly name: string, private readonly change: (controller: Weighing) => void) {
    this.element = h("div", { class: "sliders", role: "region", tabIndex: 0, "aria-label": `Weights of ${name}` });
  }

  /** Shows the lead of the chosen placement over another one by each feature; nothing without another one. */
  explain(leads: readonly Lead[]): void {
    const largest = Math.max(...leads.map(({ adds }) => Math.abs(adds)), Number.MIN_VALUE);
    this.bars.forEach((bar, at) => {
      const { here = 0, there = 0, adds = 0 } = leads[at] ?? {};
      bar.style.setProperty("--share", String(Math.abs(adds) / largest));
      bar.className = adds < 0 ? "share against" : "share";
      this.values[at]!.textContent = leads.length === 0 ? "" : signed(here - there);
      bar.parentElement!.title = leads.length === 0 ? "" : `${short(here)} here, ${short(there)} there: lead ${signed(adds)}`;
    });
  }

  /** Shows a controller. */
  show(controller: Weighing): void {
    const largest = 2 * Math.max(...controller.original.map(Math.abs), 0.5);
    this.bars = [];
    this.values = [];
    const rows = controller.columns.map((name, at) => {
      const output = h("output", { class: "number" }, short(controller.weights[at]!));
      const slider = h("input", {
        type: "range",
        min: String(-largest),
        max: String(largest),
        step: "any",
        value: String(controller.weights[at]),
        "aria-label": `${this.name}: weight of ${words(name)}`,
        "aria-valuetext": short(controller.weights[at]!),
        oninput: () => {
          controller.weights[at] = near(Number(slider.value), controller.original[at]!, largest);
          output.textContent = slider.ariaValueText = short(controller.weights[at]!);
          this.change(controller);
        },
      });
      // With the step `any`, arrow keys do nothing in some browsers.
      slider.step = String(largest / 100);
      slider.value = String(controller.weights[at]);
      const bar = h("span", { class: "share" });
      const value = h("span", { class: "number" });
      this.bars.push(bar);
      this.values.push(value);
      const here = h("span", { class: "here" }, value, bar);
      return h("div", { class: "slider" }, h("span", { class: "name" }, words(name)), output, slider, here);
    });
    const reset = button("As published", () => {
      controller.original.forEach((weight, at) => (controller.weights[at] = weight));
      this.show(controller);
      this.change(controller);
    }, "quiet");
    const head = h("div", { class: "slider head", "aria-hidden": "true" }, h("span", { class: "name" }, "feature and weight"), h("span", { class: "here" }, "more here, lead"));
    this.element.replaceChildren(head, ...rows, reset);
  }
}

/** Snaps a value close to the published weight or to 0. */
function near(value: number, original: number, largest: number): number {
  const close = largest / 200;
  if (Math.abs(value - original) <= close) {
    return original;
  }
  return Math.abs(value) <= close ? 0 : value;
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}
