// Hints: the placement that a controller would choose, and its reasons.

import { type Placements, type Policy, type Session, keysOf } from "../src/index.js";
import type { PolicyInfo } from "../src/protocol.js";
import type { App } from "./app.js";
import { field, h, scroll, select, short } from "./dom.js";
import { type Hand, placed } from "./pieces.js";
import { namesSpots, steers } from "./rules.js";
import { LETTERS } from "./tetromino.js";
import { type Weighing, cellsOf, judgementOf, parts, wayOf } from "./weighing.js";

/** The card with hints. */
export class Advice {
  private readonly helper = h("div");
  private readonly why = h("div", { class: "why" });
  readonly root = h("section", { class: "card" }, h("h2", {}, "Hint"), this.helper, this.why);
  /** Name of the adviser. */
  name: string;
  /** Whether the user has chosen the adviser. */
  isChosen: boolean;
  /** The adviser with its weights; undefined until the server has sent them. */
  weighing: Weighing | undefined;

  /** With the name in the address, if any. */
  constructor(private readonly app: App, chosen: string | undefined) {
    this.name = chosen ?? "dellacherie";
    this.isChosen = chosen !== undefined;
  }

  /** Offers these controllers, and keeps the chosen one if it is among them. Calls `change` when the user chooses another. */
  offer(controllers: readonly PolicyInfo[], change: () => void): void {
    this.name = controllers.find(({ name }) => name === this.name)?.name ?? controllers[0]!.name;
    this.weighing = undefined;
    const choice = select(controllers.map(({ name }) => [name, name] as const), this.name, (name) => {
      [this.name, this.isChosen] = [name, true];
      change();
    });
    this.helper.replaceChildren(field("Ask", choice));
    this.clear();
  }

  /** Gets the adviser's weights at this width. */
  async learn(width: number): Promise<void> {
    this.weighing = await this.app.weighing(this.name, width);
  }

  /** Shows how to get a hint. */
  clear(): void {
    this.why.replaceChildren(h("p", { class: "remark" }, h("strong", {}, "Hint"), ", or the key ", h("kbd", {}, "H"), ", shows where this controller would put the piece, and why."));
  }

  /** What a call for placements needs for a hint. */
  asks(preview: number): { policy: Policy; features: readonly string[] } | undefined {
    return this.weighing && { policy: this.app.policy(this.name, preview), features: this.weighing.columns };
  }

  /** Shows the reasons for the best placement. Returns its row, and the hint in words. */
  async give(session: Session, placements: Placements, hand: Hand): Promise<{ row: number; kind: number; words: string } | undefined> {
    const { weighing } = this;
    const rules = session.description.config?.rules;
    if (weighing === undefined || rules === undefined || placements.policyChoices === undefined) {
      return undefined;
    }
    const { best, first, values } = judgementOf(placements);
    const terms = parts(weighing, placements, best);
    const rows = terms.map(({ name, feature, weight }) =>
      h("tr", {}, h("th", { scope: "row" }, name.replaceAll("_", " ")), h("td", {}, short(feature)), h("td", {}, short(weight)), h("td", {}, short(feature * weight))));
    const head = h("tr", {}, ...["feature", "is", "weight", "adds"].map((name) => h("th", { scope: "col" }, name)));
    const total = terms.reduce((sum, { feature, weight }) => sum + feature * weight, 0);
    const foot = (name: string, number: number) => h("tr", {}, h("th", { scope: "row" }, name), h("td"), h("td"), h("td", {}, short(number)));
    const { weighs, more } = wayOf(weighing.expectation, rules.preview ?? 0);
    const feet = weighs ? [foot("in all", total), foot("with what follows", values[best - first]!)] : [foot("in all", total)];
    const holds = placements.holds?.[best] === 1;
    const kind = placed(hand, holds);
    const columns = cellsOf(placements, best).map(([, column]) => column + 1);
    const where = `columns ${Math.min(...columns)} to ${Math.max(...columns)}`;
    const words = `${this.name} would ${holds ? `hold, and put the ${LETTERS[kind]} into` : "take"} ${where}`;
    const keys = namesSpots(rules) && !steers(rules) ? keysOf(await session.enumeratePlacements({ includeKeys: true, actions: [placements.actions[best]!] }), 0) : [];
    this.why.replaceChildren(
      h("p", {}, `${words}.`),
      ...(keys.length === 0 ? [] : [h("p", { class: "source" }, "Keys: ", ...keys.flatMap((key) => [h("kbd", {}, key.replace("_", " ")), " "]))]),
      scroll("Reasons", h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows), h("tfoot", {}, ...feet))),
      h("p", { class: "source" }, more));
    return { row: best, kind, words };
  }
}
