// The form for the rules: a preset, its size, the control, and every other field.

import { TetrionError } from "../src/index.js";
import { type RulesPreset } from "../src/protocol.js";
import type { Reader } from "./address.js";
import type { App } from "./app.js";
import { Turns, field, folding, h, number, report, select, text } from "./dom.js";
import { type Chosen, type Offer, allowsMatches, boundsOf, chosenOf, configOf, fullRulesOf, namesSpots, readChosen, tetrominoPresets } from "./rules.js";
import { RULES_FIELDS, type RulesField } from "./rules_fields.js";

/** The form. Calls `change` with every choice that the server accepts. */
export class RulesForm {
  readonly element = h("div", { class: "fields" });
  private readonly presets: RulesPreset[];
  private readonly summary = h("summary", {});
  private readonly control: HTMLSelectElement = select([["placements", "placements"], ["keys", "keys, in time"]], "placements", (value) => this.take(this.control, () => ({ byKeys: value === "keys" })));
  private readonly garbage: HTMLSelectElement = select([["1", "dealt at random"], ["2", "sent to each other"]], "1", (value) => this.take(this.garbage, ({ byKeys }) => ({ isMatch: value === "2", byKeys: byKeys && value === "1" })));
  private readonly garbageField = field("Garbage", this.garbage, "Rows that rise from below: dealt at random, or sent by the other player's clears. A turn is then a placement of each player");
  private readonly turns = new Turns();
  /** Whether the server has checked the choices of the address. */
  private isSettled: boolean;
  /** How often the controls were drawn. A change by an older control is one of an older preset. */
  private drawn = 0;

  chosen: Chosen;

  /** With the choices of the address, or `usual`. */
  constructor(
    private readonly app: App,
    usual: Chosen,
    reader: Reader,
    private readonly change: (chosen: Chosen) => void,
    private readonly offer: Offer = {},
  ) {
    this.presets = tetrominoPresets(app);
    this.chosen = readChosen(app, this.presets, reader, usual, offer);
    this.isSettled = Object.keys(this.chosen.changes).length === 0 && !this.chosen.isMatch;
    this.draw();
  }

  /** Waits for choices that the server is checking. Checks the changes in the address, and drops them if the server refuses them. */
  async settle(): Promise<void> {
    await this.turns.take(() => Promise.resolve());
    if (this.isSettled) {
      return;
    }
    const problem = await this.problemOf(this.chosen);
    this.isSettled = true;
    if (problem !== undefined) {
      const { changes: others, isMatch } = this.chosen;
      const changes = Object.entries({ ...(isMatch && { players: "2" }), ...others }).map(([path, value]) => `${path}=${value}`);
      this.chosen = { ...this.chosen, isMatch: false, changes: {} };
      this.draw();
      this.app.changed();
      this.app.misread(`The address has ${changes.join(" and ")}, which the server does not play: ${problem}.`);
    }
  }

  /** The server's reason to refuse some rules; undefined if it accepts them or does not answer. */
  private async problemOf(chosen: Chosen): Promise<string | undefined> {
    try {
      const { rules, numEnvs } = configOf(this.app, chosen);
      this.app.end(await this.app.session("Rules", { rules, numEnvs }));
      return undefined;
    } catch (problem) {
      if (!(problem instanceof TetrionError) || !problem.field.startsWith("config.rules")) {
        return undefined;
      }
      return problem.violations[0]!.description;
    }
  }

  /** Takes a choice from a control if the server accepts the rules; otherwise shows the reason below the control. */
  private take(control: HTMLElement, part: (chosen: Chosen) => Partial<Chosen>): void {
    const { drawn } = this;
    void this.turns.take(async () => {
      const chosen = { ...this.chosen, ...part(this.chosen) };
      const problem = drawn === this.drawn ? await this.problemOf(chosen) : undefined;
      if (drawn !== this.drawn) {
        return; // another preset was chosen meanwhile
      }
      report(control, problem);
      if (problem === undefined) {
        this.chosen = chosen;
        this.update();
        this.change(chosen);
      }
    });
  }

  private draw(): void {
    const { app, chosen, offer } = this;
    this.drawn++;
    const preset = select(this.presets.map(({ name }) => [name, name] as const), chosen.preset, (name) => {
      const next = this.presets.find((preset) => preset.name === name)!;
      const isMatch = this.chosen.isMatch && allowsMatches(next.rules!);
      this.chosen = { ...chosenOf(next, offer.keys === true && !isMatch), isMatch };
      this.draw();
      this.element.querySelector("select")?.focus();
      this.change(this.chosen);
    });
    const { rules, source } = this.presets.find(({ name }) => name === chosen.preset)!;
    const bounds = boundsOf(app, rules);
    const size = (name: "width" | "height" | "preview") => {
      const made: HTMLInputElement = number(chosen[name], ...bounds[name], (value) => this.take(made, () => ({ [name]: value })));
      return made;
    };
    const isModern = rules !== undefined && namesSpots(rules);
    this.update();
    this.element.replaceChildren(
      field("Rules", preset, source),
      field("Width", size("width"), "Columns of the playfield"),
      field("Height", size("height"), (rules?.rowsAbove ?? 0) > 0 ? "Rows of the visible field" : "Rows of the playfield"),
      field("Preview", size("preview"), "Next pieces shown"),
      ...(isModern && offer.keys === true ? [field("Control", this.control, "Choose where a piece lands, or steer it while it falls")] : []),
      ...(offer.matches === true ? [this.garbageField] : []),
      folding(h("details", { class: "more" }, this.summary, h("div", { class: "fields" }, ...RULES_FIELDS.map((each) => this.other(each))))),
    );
  }

  /** The control of a field under "More rules". */
  private other({ path, names, parse, read }: RulesField): HTMLElement {
    const usual = read(fullRulesOf(this.app, { ...this.chosen, changes: {} }));
    const now = this.chosen.changes[path] ?? usual;
    const take = (value: string) => this.take(control, ({ changes: { [path]: _, ...others } }) => ({ changes: value === usual ? others : { ...others, [path]: value } }));
    const offered = names !== undefined && (usual === "" ? ["", ...names] : names);
    const control: HTMLElement = offered ? select(offered.map((name) => [name, name] as const), now, take) : text(now, (value) => value === usual || parse(value), take);
    return field(inWords(path), control);
  }

  /** Shows the control, the source of garbage if there is a choice, and the number of changes next to "More rules". */
  private update(): void {
    const { byKeys, isMatch, changes } = this.chosen;
    this.control.value = byKeys ? "keys" : "placements";
    this.garbage.value = isMatch ? "2" : "1";
    [this.control, this.garbage].forEach((control) => report(control, undefined));
    this.garbageField.hidden = !allowsMatches(fullRulesOf(this.app, this.chosen));
    const { length } = Object.keys(changes);
    this.summary.textContent = length === 0 ? "More rules" : `More rules (${length} changed)`;
  }
}

/** A path of the protocol as a label: `garbage.hole_move_chance` is `Garbage: hole move chance`. */
function inWords(name: string): string {
  const words = name.replaceAll("_", " ").replaceAll(".", ": ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
