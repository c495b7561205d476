// The reasons for a choice: a table with the lead of the chosen placement over another one, term by term.

import { h, scroll, short } from "./dom.js";
import type { Lead } from "./weighing.js";

/** The table, with its title for screen readers, and the name of a term. Terms that differ come first, the largest lead above; equal ones are named below it. */
export function reasons(title: string, name: string, all: readonly Lead[], feet: readonly (readonly [name: string, number: number])[], { hasWeights = true } = {}): HTMLElement[] {
  const [differ, equal] = [all.filter(({ adds }) => adds !== 0), all.filter(({ adds }) => adds === 0)];
  const sorted = [...differ].sort((one, other) => Math.abs(other.adds) - Math.abs(one.adds));
  const row = (head: string, cells: readonly string[]) => h("tr", {}, h("th", { scope: "row" }, head), ...cells.map((text) => h("td", {}, text)));
  const weighted = (weight: string) => (hasWeights ? [weight] : []);
  const heads = [name, "here", "there", ...weighted("weight"), "lead"];
  const rows = sorted.map(({ name, here, there, weight, adds }) => row(name, [short(here), short(there), ...weighted(short(weight)), signed(adds)]));
  const foot = feet.map(([name, number]) => row(name, ["", "", ...weighted(""), signed(number)]));
  return [
    scroll(title, h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows), h("tfoot", {}, ...foot))),
    ...(equal.length === 0 ? [] : [h("p", { class: "source" }, `Equal for both: ${equal.map(({ name }) => name).join(", ")}.`)]),
  ];
}

/** A number with its sign. */
export function signed(value: number): string {
  return value > 0 ? `+${short(value)}` : short(value);
}
