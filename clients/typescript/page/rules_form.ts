// Which game is played: a preset, a size, a seed.

import { ActionModel, type GetServerInfoResponse, HalfTurns, type RulesPreset } from "../src/protocol.js";
import { field, h, number, select } from "./dom.js";
import { ABOVE, type Chosen, chosenOf, namesSpots, tetrominoPresets } from "./rules.js";

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

  constructor(
    private readonly info: GetServerInfoResponse,
    public chosen: Chosen,
    private readonly change: (chosen: Chosen) => void,
    private readonly offer: Offer = {},
  ) {
    this.presets = tetrominoPresets(info).filter(offer.wanted ?? (() => true));
    this.draw();
  }

  /** Takes another choice, as if a person had made it. */
  choose(chosen: Chosen): void {
    this.chosen = chosen;
    this.draw();
    this.change(chosen);
  }

  private draw(): void {
    const { chosen } = this;
    const limits = this.info.limits!;
    const set = (part: Partial<Chosen>) => {
      this.chosen = { ...this.chosen, ...part };
      this.change(this.chosen);
    };
    const preset = select(this.presets.map(({ name }) => [name, name] as const), chosen.preset, (name) => {
      this.choose(chosenOf(this.presets.find((preset) => preset.name === name)!));
    });
    const { rules, source } = this.presets.find(({ name }) => name === chosen.preset)!;
    const above = (rules?.rowsAbove ?? 0) > 0 ? ABOVE : 0;
    const turns = select([[String(HalfTurns.OFF), "off"], [String(HalfTurns.TETRIO), "tetrio"], [String(HalfTurns.COBRA), "cobra"]], String(chosen.halfTurns), (halfTurns) => set({ halfTurns: Number(halfTurns) }));
    const control = select([["placements", "placements"], ["keys", "keys, in time"]], chosen.byKeys ? "keys" : "placements", (control) => set({ byKeys: control === "keys" }));
    const isModern = rules !== undefined && namesSpots(rules);
    this.element.replaceChildren(
      field("Rules", preset, source),
      field("Width", number(chosen.width, limits.minWidth, limits.maxWidth, (width) => set({ width })), "Columns of the playfield"),
      field("Height", number(chosen.height, limits.minHeight, limits.maxHeight - above, (height) => set({ height })), above > 0 ? "Rows of the visible field" : "Rows of the playfield"),
      field("Preview", number(chosen.preview, rules?.hold === true ? 1 : 0, limits.maxPreview, (preview) => set({ preview })), "Next pieces shown"),
      ...(isModern && this.offer.offersKeys === true ? [field("Control", control, "Whether you choose where a piece rests, or steer it while it falls")] : []),
      ...(isModern ? [field("Half turns", turns, "Turns by 180 degrees; their kicks have the names of their sources")] : []),
    );
  }
}

/** Whether one step of a preset is one piece. */
export function isPlacement(preset: RulesPreset): boolean {
  return preset.rules?.actionModel === ActionModel.PLACEMENT;
}

/** A seed as people type it; nothing, or no number, draws one. */
export function seedOf(text: string): bigint {
  return /^\d{1,20}$/.test(text.trim()) ? BigInt.asUintN(64, BigInt(text.trim())) : drawnSeed();
}

/** A seed that is short enough to be written down. */
export function drawnSeed(): bigint {
  return BigInt(crypto.getRandomValues(new Uint16Array(1))[0]!);
}
