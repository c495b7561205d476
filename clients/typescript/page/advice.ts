// Hints: the placement that a controller would choose, and its reasons.

import { type Placements, type Policy, type Session, keysOf } from "../src/index.js";
import type { PolicyInfo } from "../src/protocol.js";
import type { App } from "./app.js";
import { field, h, select } from "./dom.js";
import { type Hand, placed } from "./pieces.js";
import { reasons } from "./reasons.js";
import { namesSpots, steers } from "./rules.js";
import { LETTERS } from "./tetromino.js";
import { type Weighing, cellsOf, judgementOf, leads, runnerUp, tiesInWords, wayOf } from "./weighing.js";

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
    this.name = chosen ?? "";
    this.isChosen = chosen !== undefined;
  }

  /** Offers these controllers. Keeps the one that the user has chosen, or begins with the strongest. Calls `change` when the user chooses another. */
  offer(controllers: readonly PolicyInfo[], strongest: string | undefined, change: () => void): void {
    const wanted = this.isChosen ? this.name : strongest;
    this.name = controllers.find(({ name }) => name === wanted)?.name ?? controllers[0]!.name;
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

  /** Shows the reasons for the best placement in an environment. Returns its row, and the hint in words. */
  async give(session: Session, placements: Placements, hand: Hand, env: number): Promise<{ row: number; kind: number; words: string } | undefined> {
    const { weighing } = this;
    const rules = session.description.config?.rules;
    if (weighing === undefined || rules === undefined || placements.policyChoices === undefined) {
      return undefined;
    }
    const judgement = judgementOf(placements);
    const { best, first, values } = judgement;
    const columnsOf = (row: number) => {
      const columns = cellsOf(placements, row).map(([, column]) => column + 1);
      return `columns ${Math.min(...columns)} to ${Math.max(...columns)}`;
    };
    const other = runnerUp(judgement);
    const { weighs, more } = wayOf(weighing.expectation, rules.preview ?? 0);
    const why: HTMLElement[] = [];
    if (other !== undefined) {
      const all = leads(weighing, placements, best, other);
      const total = all.reduce((sum, { adds }) => sum + adds, 0);
      const lead = values[best - first]! - values[other - first]!;
      const feet = weighs ? [["by the features", total], ["by the pieces to come", lead - total], ["in all", lead]] as const : [["in all", total]] as const;
      const holds = placements.holds?.[other] === 1 ? "hold, " : "";
      why.push(h("p", { class: "source" }, `Second best (“there”): ${holds}${columnsOf(other)}${tiesInWords(judgement)}. A lead is a weight times a difference.`), ...reasons("Reasons", "feature", all, feet));
    }
    const holds = placements.holds?.[best] === 1;
    const kind = placed(hand, holds);
    const where = columnsOf(best);
    const words = `${this.name} would ${holds ? `hold, and put the ${LETTERS[kind]} into` : "take"} ${where}`;
    const keys = namesSpots(rules) && !steers(rules) ? keysOf(await session.enumeratePlacements({ includeKeys: true, envIds: [env], actions: [placements.actions[best]!] }), 0) : [];
    this.why.replaceChildren(
      h("p", {}, `${words}.`),
      ...(keys.length === 0 ? [] : [h("p", { class: "source" }, "Keys: ", ...keys.flatMap((key) => [h("kbd", {}, key.replace("_", " ")), " "]))]),
      ...(other === undefined ? [h("p", { class: "source" }, `It considers no worse placement${tiesInWords(judgement)}.`)] : why),
      h("p", { class: "source" }, more));
    return { row: best, kind, words };
  }
}
