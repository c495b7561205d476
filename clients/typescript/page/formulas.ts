// Formulas as players: the field for their text, and their mistakes below it.

import type { TetrionError } from "../src/index.js";
import { FeatureFamily, type GetCatalogResponse, type GetServerInfoResponse } from "../src/protocol.js";
import { h, report } from "./dom.js";

/** The formula of a new player. */
export const EXAMPLE = "-4*holes - max(0, max_height - 6)^2 - bumpiness";

/** Number of formulas that were refused, for their identifiers. */
let count = 0;

/** A field for a formula. Calls `change` when the user has changed the text and leaves the field. */
export function formulaField({ limits }: GetServerInfoResponse, text: string, change: (text: string) => void): HTMLTextAreaElement {
  const field = h("textarea", {
    class: "formula",
    rows: 3,
    spellcheck: false,
    maxLength: limits!.formulas!.maxFormulaBytes,
    value: text,
    oninput: () => report(field, undefined),
    onchange: () => change(field.value),
  });
  return field;
}

/** Shows below a formula why the server refuses it. */
export function refuseFormula(field: HTMLTextAreaElement, problem: TetrionError): void {
  field.id ||= `formula-${++count}`;
  report(field, problem.violations[0]!.description);
}

/** What a formula can use, in a fold. */
export function languageOf({ features }: GetCatalogResponse): HTMLElement {
  return h("details", {}, h("summary", {}, "What a formula can use"),
    h("p", { class: "remark" }, "The placement with the largest value is played. Features: ", ...features.flatMap(({ name, family, formula }) => [h("span", { title: formula }, family === FeatureFamily.SINGLE ? name : `${name}[i]`), " "])),
    h("p", { class: "remark" }, "Also + - * / ^, min, max, abs, exp, ln, if … then … else, let x = …;, and conditions such as next == I; lines, pieces, width and height. The whole language: ", h("code", {}, "docs/formulas.md"), "."));
}
