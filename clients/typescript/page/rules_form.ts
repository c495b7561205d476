// Which game is played: a preset, a size, a seed.

import { ActionModel, type GetServerInfoResponse, Reach, type RulesPreset } from "../src/protocol.js";
import { field, h, number, select } from "./dom.js";

/** Which game is played. */
export interface Chosen {
  readonly preset: string;
  readonly width: number;
  readonly height: number;
  /** Next pieces shown. */
  readonly preview: number;
}

/** The form. Calls `change` with every choice. */
export class RulesForm {
  readonly element = h("div", { class: "fields" });
  private readonly presets: RulesPreset[];

  constructor(
    private readonly info: GetServerInfoResponse,
    public chosen: Chosen,
    private readonly change: (chosen: Chosen) => void,
    private readonly wanted: (preset: RulesPreset) => boolean = () => true,
  ) {
    this.presets = info.rulesPresets.filter(this.wanted);
    this.draw();
  }

  /** What a preset plays unless something is changed. */
  static of(preset: RulesPreset): Chosen {
    const { width = 10, height = 20, preview = 0 } = preset.rules ?? {};
    return { preset: preset.name, width, height, preview };
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
      this.choose(RulesForm.of(this.presets.find((preset) => preset.name === name)!));
    });
    this.element.replaceChildren(
      field("Rules", preset, this.presets.find(({ name }) => name === chosen.preset)?.source),
      field("Width", number(chosen.width, limits.minWidth, limits.maxWidth, (width) => set({ width })), "Columns of the playfield"),
      field("Height", number(chosen.height, limits.minHeight, limits.maxHeight, (height) => set({ height })), "Rows of the playfield"),
      field("Preview", number(chosen.preview, 0, limits.maxPreview, (preview) => set({ preview })), "Next pieces shown"),
    );
  }
}

/** Whether one step of a preset is one piece. */
export function isPlacement(preset: RulesPreset): boolean {
  return preset.rules?.actionModel === ActionModel.PLACEMENT;
}

/** Whether this page can show games of a preset: it knows neither turns with kicks nor hold. */
export function isShown(preset: RulesPreset): boolean {
  return preset.rules?.reach !== Reach.SRS && preset.rules?.hold !== true;
}

/** A seed as people type it; nothing, or no number, draws one. */
export function seedOf(text: string): bigint {
  return /^\d{1,20}$/.test(text.trim()) ? BigInt.asUintN(64, BigInt(text.trim())) : drawnSeed();
}

/** A seed that is short enough to be written down. */
export function drawnSeed(): bigint {
  return BigInt(crypto.getRandomValues(new Uint16Array(1))[0]!);
}
