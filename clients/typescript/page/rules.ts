// Rules as the page sees them: the choices of a form, the visible part of a playfield, and the data that a game has to show. The
// server plays by them.

import { type MessageInitShape, create } from "@bufbuild/protobuf";

import { ActionModel, AttackTable, ClearPoints, type GetCatalogResponse, type GetServerInfoResponse, Reach, type Rules, type RulesPreset, RulesSchema, SpinRule } from "../src/protocol.js";
import { type Choices, type Reader, wholeNumber } from "./address.js";
import { APART, type Changes, RULES_FIELDS, messageOf } from "./rules_fields.js";

/** Rows above a playfield in pictures, for the current piece and for cells above the visible field. */
export const ABOVE = 4;

/** The rules that a form has chosen. */
export interface Chosen {
  readonly preset: string;
  readonly width: number;
  /** Rows of the visible field. */
  readonly height: number;
  /** Next pieces shown. */
  readonly preview: number;
  /** Whether keys steer the pieces in real time. Only presets with modern placements have this choice. */
  readonly byKeys: boolean;
  /** Whether two players send each other garbage, instead of each alone having garbage at random. */
  readonly isMatch: boolean;
  /** Other fields that differ from the preset. */
  readonly changes: Changes;
}

/** Steps per second while keys steer pieces: fine enough for a hand, and few enough for a server. */
export const STEPS_PER_SECOND = 20;

/** Timing of these games: level 1, one row per second and half a second on the ground. */
export const TIMING = { fallDelay: STEPS_PER_SECOND, lockDelay: STEPS_PER_SECOND / 2, lockResets: 15 } as const;

/** The rules of a preset, without changes. With `prefersKeys`, keys steer the pieces if the preset allows it. */
export function chosenOf({ name, rules }: RulesPreset, prefersKeys = false): Chosen {
  const { width = 10, preview = 0 } = rules ?? {};
  const byKeys = prefersKeys && rules !== undefined && namesSpots(rules);
  return { preset: name, width, height: rules === undefined ? 20 : visibleRows(rules), preview, byKeys, isMatch: false, changes: {} };
}

/** Facts about the server: what it allows, and the names that it knows. */
export interface Facts {
  readonly info: GetServerInfoResponse;
  readonly catalog: GetCatalogResponse;
}

/** Bounds of a form's numbers under a preset. */
export function boundsOf({ info }: Facts, rules: Rules | undefined): Record<"width" | "height" | "preview", readonly [min: number, max: number]> {
  const { minWidth, maxWidth, minHeight, maxHeight, maxPreview } = info.limits!.rules!;
  const above = (rules?.rowsAbove ?? 0) > 0 ? ABOVE : 0;
  return { width: [minWidth, maxWidth], height: [minHeight, maxHeight - above], preview: [rules?.hold === true ? 1 : 0, maxPreview] };
}

/** Chosen rules as choices of an address: the preset and the differences from it. */
export function choicesOf({ catalog }: Facts, chosen: Chosen): Choices {
  const usual = chosenOf(catalog.rulesPresets.find(({ name }) => name === chosen.preset)!);
  return {
    rules: chosen.preset,
    ...Object.fromEntries((["width", "height", "preview"] as const).flatMap((name) => (chosen[name] === usual[name] ? [] : [[name, String(chosen[name])]]))),
    ...(chosen.byKeys && { control: "keys" }),
    ...(chosen.isMatch && { players: "2" }),
    ...Object.fromEntries(RULES_FIELDS.flatMap(({ path }) => (chosen.changes[path] === undefined ? [] : [[path, chosen.changes[path]]]))),
  };
}

/** Choices of a form that only some views have. */
export interface Offer {
  /** Whether keys may steer pieces. */
  readonly keys?: boolean;
  /** Whether two players may send each other garbage. */
  readonly matches?: boolean;
}

/** Reads the rules from an address. If it names no preset, its other choices change `otherwise`. */
export function readChosen(facts: Facts, presets: readonly RulesPreset[], reader: Reader, otherwise: Chosen, { keys = false, matches = false }: Offer = {}): Chosen {
  const name = reader.oneOf("rules", presets.map(({ name }) => name));
  const preset = presets.find((preset) => preset.name === (name ?? otherwise.preset))!;
  const usual = name === undefined ? otherwise : chosenOf(preset);
  const bounds = boundsOf(facts, preset.rules);
  const within = (choice: keyof typeof bounds) => reader.parsed(choice, (text) => wholeNumber(text, ...bounds[choice])) ?? usual[choice];
  const isModern = preset.rules !== undefined && namesSpots(preset.rules);
  const control = isModern && keys ? reader.oneOf("control", ["placements", "keys"]) : undefined;
  const players = reader.parsed("players", (text) => {
    if (text !== "1" && !(text === "2" && matches)) {
      throw new RangeError(matches ? "1 or 2" : "1: the command tetrion match measures matches");
    }
    return text;
  });
  const changes = Object.fromEntries(RULES_FIELDS.flatMap(({ path, parse, read }) => {
    const text = reader.parsed(path, (text) => (parse(text), text));
    return text === undefined || text === read(preset.rules) ? [] : [[path, text]];
  }));
  return {
    preset: preset.name,
    width: within("width"),
    height: within("height"),
    preview: within("preview"),
    byKeys: control === undefined ? usual.byKeys && players !== "2" : control === "keys",
    isMatch: players === "2",
    changes,
  };
}

/** Whether rules play with tetrominoes. The page can draw no other pieces. */
export function isOfTetrominoes(rules: Rules | undefined): boolean {
  return ["", "tetrominoes"].includes(rules?.pieceSet ?? "");
}

/** Presets that the page can play. */
export function tetrominoPresets({ catalog }: Facts): RulesPreset[] {
  return catalog.rulesPresets.filter(({ rules }) => isOfTetrominoes(rules));
}

/** Rules of a preset by its name. */
export function presetOf({ catalog }: Facts, name: string): Rules | undefined {
  return catalog.rulesPresets.find((preset) => preset.name === name)?.rules;
}

/** Chosen rules as a message. */
export function rulesOf(facts: Facts, { preset, width, height, preview, byKeys, isMatch, changes }: Chosen): MessageInitShape<typeof RulesSchema> {
  const rowsAbove = Math.min(presetOf(facts, preset)?.rowsAbove ?? 0, facts.info.limits!.rules!.maxHeight - height);
  const keys = byKeys && { actionModel: ActionModel.KEYPRESS, ...TIMING };
  return { preset, width, height: height + rowsAbove, preview, ...(rowsAbove > 0 && { rowsAbove }), ...keys, ...(isMatch && { players: 2 }), ...messageOf(changes) };
}

/** Chosen rules with every field, as the page predicts them before the server answers. */
export function fullRulesOf(facts: Facts, chosen: Chosen): Rules {
  const { scoring, garbage, ...preset } = presetOf(facts, chosen.preset)!;
  const { scoring: points, garbage: rising, ...rules } = rulesOf(facts, chosen);
  const inner = { ...((scoring ?? points) && { scoring: { ...scoring, ...points } }), ...((garbage ?? rising) && { garbage: { ...garbage, ...rising } }) };
  return create(RulesSchema, { ...preset, ...rules, ...inner } as MessageInitShape<typeof RulesSchema>);
}

/** Options of a session: the rules, the environments of one game, and the observations and infos that the page shows. */
export function configOf(facts: Facts, chosen: Chosen): { rules: MessageInitShape<typeof RulesSchema>; numEnvs: number; observations: string[]; infos: string[] } {
  return { rules: rulesOf(facts, chosen), numEnvs: chosen.isMatch ? 2 : 1, ...shownOf(fullRulesOf(facts, chosen)) };
}

/** The observations and infos that the page shows of a game under these rules. */
export function shownOf(rules: Rules): { observations: string[]; infos: string[] } {
  const queue = (rules.preview ?? 0) > 0 ? ["queue"] : [];
  const held = rules.hold === true ? ["held"] : [];
  const falling = rules.actionModel === ActionModel.KEYPRESS ? ["falling_cells"] : [];
  const clears = countsClears(rules) ? ["attack", "combo", "back_to_back_count"] : [];
  const spin = tellsSpins(rules) ? ["spin"] : [];
  const garbage = hasGarbage(rules) ? ["garbage"] : [];
  const exchange = rules.players === 2 ? ["sent", "received", "cancelled", "surge", "won"] : [];
  return {
    observations: ["board", "current", ...queue, ...held, ...falling, ...garbage],
    infos: ["lines", "pieces", "episode_return", ...clears, ...spin, ...exchange],
  };
}

/** The choices of a form that give these rules, with every field; undefined if a form cannot choose them. */
export function chosenFrom(facts: Facts, rules: Rules): Chosen | undefined {
  const known = tetrominoPresets(facts).flatMap((preset) => {
    const changes = Object.fromEntries(RULES_FIELDS.flatMap(({ path, read }) => (["", read(preset.rules)].includes(read(rules)) ? [] : [[path, read(rules)]])));
    const { width = 10, preview = 0 } = rules;
    const chosen = { preset: preset.name, width, height: visibleRows(rules), preview, byKeys: steers(rules), isMatch: rules.players === 2, changes };
    return [{ chosen, differences: Object.keys(changes).length }];
  });
  const fits = known.filter(({ chosen }) => {
    let full: Rules;
    try {
      full = fullRulesOf(facts, chosen);
    } catch (problem) {
      if (problem instanceof RangeError) {
        return false; // a value that no text stands for
      }
      throw problem;
    }
    return APART.every((name) => full[name] === rules[name]) && RULES_FIELDS.every(({ read }) => read(full) === read(rules));
  });
  return fits.sort((one, other) => one.differences - other.differences)[0]?.chosen;
}

/** Rows of the visible field. */
export function visibleRows({ height = 20, rowsAbove = 0 }: Rules): number {
  return height - rowsAbove;
}

/** Whether rules count sent lines, combos and back-to-back clears. */
export function countsClears({ clearPoints = ClearPoints.LINES, attackTable = AttackTable.NONE }: Rules): boolean {
  return clearPoints !== ClearPoints.LINES || attackTable !== AttackTable.NONE;
}

/** Whether garbage rises under these rules. */
function hasGarbage({ garbage }: Rules): boolean {
  return (garbage?.linesPerPiece ?? 0) > 0;
}

/** Whether two players can send each other garbage under these rules, if a step is a placement. */
export function allowsMatches(rules: Rules): boolean {
  return hasGarbage(rules) && (rules.attackTable ?? AttackTable.NONE) !== AttackTable.NONE;
}

/** Whether rules distinguish spins. */
function tellsSpins({ spinRule = SpinRule.NONE }: Rules): boolean {
  return spinRule !== SpinRule.NONE;
}

/** A quantity of a game. */
export type Measure = "lines" | "points" | "lines sent";

/** Quantities of a game under these rules: lines, points if a point is not a line, and sent lines if the rules count them. */
export function measuresOf({ scoring, clearPoints = ClearPoints.LINES, attackTable = AttackTable.NONE }: Rules): Measure[] {
  const { piece = 0, lines = [], gameEnd = 0 } = scoring ?? {};
  const pointsAreLines = clearPoints === ClearPoints.LINES && piece === 0 && gameEnd === 0 && lines.every((points, at) => points === at + 1);
  return ["lines", ...(pointsAreLines ? [] : ["points" as const]), ...(attackTable === AttackTable.NONE ? [] : ["lines sent" as const])];
}

/** Whether a piece can land in more than one row of a column. */
export function namesSpots({ reach }: Rules): boolean {
  return reach === Reach.MOVES;
}

/** Whether keys steer pieces in real time, with kicks. A step is then a key. */
export function steers(rules: Rules): boolean {
  return namesSpots(rules) && rules.actionModel === ActionModel.KEYPRESS;
}

/** Size of the visible field in words. */
export function sizeInWords(rules: Rules): string {
  return `${rules.width} × ${visibleRows(rules)}`;
}

