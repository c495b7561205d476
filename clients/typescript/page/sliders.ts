// The weights of a controller: one slider per feature, and the feature's share of the chosen placement's value.

import { button, h, short } from "./dom.js";
import type { Part, Weighing } from "./weighing.js";

/** The sliders. Calls `change` whenever a weight has changed. */
export class Sliders {
  readonly element: HTMLElement;
  private bars: HTMLElement[] = [];
  private values: HTMLElement[] = [];

  constructor(private readonly name: string, private readonly change: (controller: Weighing) => void) {
    this.element = h("div", { class: "sliders", role: "region", tabIndex: 0, "aria-label": `Weights of ${name}` });
  }

  /** Shows each feature's share of the chosen placement's value. */
  explain(parts: readonly Part[]): void {
    const largest = Math.max(...parts.map(({ feature, weight }) => Math.abs(feature * weight)), Number.MIN_VALUE);
    parts.forEach(({ feature, weight }, at) => {
      const share = (feature * weight) / largest;
      const bar = this.bars[at];
      const value = this.values[at];
      if (bar !== undefined && value !== undefined) {
        bar.style.setProperty("--share", String(Math.abs(share)));
        bar.className = share < 0 ? "share against" : "share";
        value.textContent = short(feature);
      }
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
    const head = h("div", { class: "slider head", "aria-hidden": "true" }, h("span", { class: "name" }, "feature and weight"), h("span", { class: "here" }, "here, effect"));
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
