// Which game is played: a preset, a size, how it is controlled.

import { ActionModel, type GetServerInfoResponse, type RulesPreset } from "../src/protocol.js";
import type { Reader } from "./address.js";
import { field, h, number, select } from "./dom.js";
import { type Chosen, HALF_TURNS, boundsOf, chosenOf, namesSpots, readChosen, tetrominoPresets } from "./rules.js";

/** What a form offers. */
export interface Offer {
  /** Which presets of tetrominoes; all of them if it is not said. */
  readonly wanted?: (preset: RulesPreset) => boolean;
  /** Whether a person may choose to steer pieces by keys. */
  readonly offersKeys?: boolean;
}

/** The form. Calls `change` with every choice. */
export class RulesForm {
  readonly element = h("div", { class: "fields" });
  private readonly presets: RulesPreset[];

  chosen: Chosen;

  /** With what the address chooses, or `usual`. */
  constructor(
    private readonly info: GetServerInfoResponse,
    usual: Chosen,
    reader: Reader,
    private readonly change: (chosen: Chosen) => void,
    private readonly offer: Offer = {},
  ) {
    this.presets = tetrominoPresets(info).filter(offer.wanted ?? (() => true));
    this.chosen = readChosen(info, this.presets, reader, usual, offer.offersKeys);
    this.draw();
  }

  private draw(): void {
    const { chosen, offer } = this;
    const set = (part: Partial<Chosen>) => {
      this.chosen = { ...this.chosen, ...part };
      this.change(this.chosen);
    };
    const preset = select(this.presets.map(({ name }) => [name, name] as const), chosen.preset, (name) => {
      this.chosen = chosenOf(this.presets.find((preset) => preset.name === name)!, offer.offersKeys);
      this.draw();
      this.element.querySelector("select")?.focus();
      this.change(this.chosen);
    });
    const { rules, source } = this.presets.find(({ name }) => name === chosen.preset)!;
    const bounds = boundsOf(this.info, rules);
    const turns = select(Object.keys(HALF_TURNS).map((name) => [name, name] as const), Object.keys(HALF_TURNS).find((name) => HALF_TURNS[name] === chosen.halfTurns)!, (name) => set({ halfTurns: HALF_TURNS[name]! }));
    const control = select([["placements", "placements"], ["keys", "keys, in time"]], chosen.byKeys ? "keys" : "placements", (control) => set({ byKeys: control === "keys" }));
    const isModern = rules !== undefined && namesSpots(rules);
    this.element.replaceChildren(
      field("Rules", preset, source),
      field("Width", number(chosen.width, ...bounds.width, (width) => set({ width })), "Columns of the playfield"),
      field("Height", number(chosen.height, ...bounds.height, (height) => set({ height })), (rules?.rowsAbove ?? 0) > 0 ? "Rows of the visible field" : "Rows of the playfield"),
      field("Preview", number(chosen.preview, ...bounds.preview, (preview) => set({ preview })), "Next pieces shown"),
      ...(isModern && offer.offersKeys === true ? [field("Control", control, "Whether you choose where a piece rests, or steer it while it falls")] : []),
      ...(isModern ? [field("Half turns", turns, "Turns by 180 degrees; their kicks have the names of their sources")] : []),
    );
  }
}

/** Whether one step of a preset is one piece. */
export function isPlacement(preset: RulesPreset): boolean {
  return preset.rules?.actionModel === ActionModel.PLACEMENT;
}
