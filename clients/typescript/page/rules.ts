// What this page has to know of rules: which ones a form has chosen, how much of a playfield is to be seen, and what a game by
// them has to show. How they play is the server's business.

import { type MessageInitShape, create } from "@bufbuild/protobuf";

import { ActionModel, AttackTable, ClearPoints, type GetServerInfoResponse, Reach, type Rules, type RulesPreset, RulesSchema, SpinRule } from "../src/protocol.js";
import { type Choices, type Reader, wholeNumber } from "./address.js";
import { type Changes, RULES_FIELDS, messageOf } from "./rules_fields.js";

/** Rows that are drawn above a playfield: for the piece in play, and for what sticks out of the visible field. */
export const ABOVE = 4;

/** Which game is played. */
export interface Chosen {
  readonly preset: string;
  readonly width: number;
  /** Rows of the visible field. */
  readonly height: number;
  /** Next pieces shown. */
  readonly preview: number;
  /** Whether keys steer the pieces in time, where the preset has placements that name their spots. */
  readonly byKeys: boolean;
  /** What else differs from the preset. */
  readonly changes: Changes;
}

/** Steps a second where keys steer pieces: fine enough for a hand, and few enough for a server. */
export const STEPS_PER_SECOND = 20;

/** How time passes there: level 1, a row a second and half a second on the ground. */
export const TIMING = { gravity: STEPS_PER_SECOND, lockDelay: STEPS_PER_SECOND / 2, lockResets: 15 } as const;

/** What a preset plays unless something is changed; where keys can steer pieces, they do if `prefersKeys` says so. */
export function chosenOf({ name, rules }: RulesPreset, prefersKeys = false): Chosen {
  const { width = 10, preview = 0 } = rules ?? {};
  const byKeys = prefersKeys && rules !== undefined && namesSpots(rules);
  return { preset: name, width, height: rules === undefined ? 20 : visibleRows(rules), preview, byKeys, changes: {} };
}

/** The bounds of the numbers of a form under a preset. */
export function boundsOf({ limits }: GetServerInfoResponse, rules: Rules | undefined): Record<"width" | "height" | "preview", readonly [min: number, max: number]> {
  const { minWidth, maxWidth, minHeight, maxHeight, maxPreview } = limits!;
  const above = (rules?.rowsAbove ?? 0) > 0 ? ABOVE : 0;
  return { width: [minWidth, maxWidth], height: [minHeight, maxHeight - above], preview: [rules?.hold === true ? 1 : 0, maxPreview] };
}

/** What is chosen, as an address says it: the preset and what differs from it. */
export function choicesOf(info: GetServerInfoResponse, chosen: Chosen): Choices {
  const usual = chosenOf(info.rulesPresets.find(({ name }) => name === chosen.preset)!);
  return {
    rules: chosen.preset,
    ...Object.fromEntries((["width", "height", "preview"] as const).flatMap((name) => (chosen[name] === usual[name] ? [] : [[name, String(chosen[name])]]))),
    ...(chosen.byKeys && { control: "keys" }),
    ...Object.fromEntries(RULES_FIELDS.flatMap(({ path }) => (chosen.changes[path] === undefined ? [] : [[path, chosen.changes[path]]]))),
  };
}

/** What an address chooses among some presets; where it names no preset, `otherwise` with the other choices. */
export function readChosen(info: GetServerInfoResponse, presets: readonly RulesPreset[], reader: Reader, otherwise: Chosen, offersKeys = false): Chosen {
  const name = reader.oneOf("rules", presets.map(({ name }) => name));
  const preset = presets.find((preset) => preset.name === (name ?? otherwise.preset))!;
  const usual = name === undefined ? otherwise : chosenOf(preset);
  const bounds = boundsOf(info, preset.rules);
  const within = (choice: keyof typeof bounds) => reader.parsed(choice, (text) => wholeNumber(text, ...bounds[choice])) ?? usual[choice];
  const isModern = preset.rules !== undefined && namesSpots(preset.rules);
  const control = isModern && offersKeys ? reader.oneOf("control", ["placements", "keys"]) : undefined;
  const changes = Object.fromEntries(RULES_FIELDS.flatMap(({ path, parse, read }) => {
    const text = reader.parsed(path, (text) => (parse(text), text));
    return text === undefined || text === read(preset.rules) ? [] : [[path, text]];
  }));
  return {
    preset: preset.name,
    width: within("width"),
    height: within("height"),
    preview: within("preview"),
    byKeys: control === undefined ? usual.byKeys : control === "keys",
    changes,
  };
}

/** Whether a game is of the tetrominoes, whose drawings the page has. */
export function isOfTetrominoes(rules: Rules | undefined): boolean {
  return ["", "tetrominoes"].includes(rules?.pieceSet ?? "");
}

/** The presets that the page can play. */
export function tetrominoPresets(info: GetServerInfoResponse): RulesPreset[] {
  return info.rulesPresets.filter(({ rules }) => isOfTetrominoes(rules));
}

/** The rules of a preset that the server has. */
export function presetOf(info: GetServerInfoResponse, name: string): Rules | undefined {
  return info.rulesPresets.find((preset) => preset.name === name)?.rules;
}

/** The message. */
export function rulesOf(info: GetServerInfoResponse, { preset, width, height, preview, byKeys, changes }: Chosen): MessageInitShape<typeof RulesSchema> {
  const rowsAbove = Math.min(presetOf(info, preset)?.rowsAbove ?? 0, info.limits!.maxHeight - height);
  const keys = byKeys && { actionModel: ActionModel.KEYPRESS, ...TIMING };
  return { preset, width, height: height + rowsAbove, preview, ...(rowsAbove > 0 && { rowsAbove }), ...keys, ...messageOf(changes) };
}

/** The rules with every field, as far as the page knows them before a server has answered. */
export function fullRulesOf(info: GetServerInfoResponse, chosen: Chosen): Rules {
  const { scoring, garbage, ...preset } = presetOf(info, chosen.preset)!;
  const { scoring: points, garbage: rising, ...rules } = rulesOf(info, chosen);
  const inner = { ...((scoring ?? points) && { scoring: { ...scoring, ...points } }), ...((garbage ?? rising) && { garbage: { ...garbage, ...rising } }) };
  return create(RulesSchema, { ...preset, ...rules, ...inner } as MessageInitShape<typeof RulesSchema>);
}

/** The parts of a session's configuration that say which game it is, and what a viewer of it must see. */
export function configOf(info: GetServerInfoResponse, chosen: Chosen): { rules: MessageInitShape<typeof RulesSchema>; observationFields: string[]; infoFields: string[] } {
  const rules = fullRulesOf(info, chosen);
  const queue = chosen.preview > 0 ? ["queue"] : [];
  const held = rules.hold === true ? ["held"] : [];
  const falling = rules.actionModel === ActionModel.KEYPRESS ? ["falling_cells"] : [];
  const clears = countsClears(rules) ? ["attack", "combo", "back_to_back"] : [];
  const spin = tellsSpins(rules) ? ["spin"] : [];
  return {
    rules: rulesOf(info, chosen),
    observationFields: ["board", "current", ...queue, ...held, ...falling],
    infoFields: ["lines", "pieces", "episode_return", ...clears, ...spin],
  };
}

/** Rows of the visible field. */
export function visibleRows({ height = 20, rowsAbove = 0 }: Rules): number {
  return height - rowsAbove;
}

/** Whether lines are sent, and clears in a row and difficult ones are told apart. */
export function countsClears({ clearPoints = ClearPoints.LINES, attack = AttackTable.OFF }: Rules): boolean {
  return clearPoints !== ClearPoints.LINES || attack !== AttackTable.OFF;
}

/** Whether spins are told apart. */
function tellsSpins({ spins = SpinRule.OFF }: Rules): boolean {
  return spins !== SpinRule.OFF;
}

/** What can be counted of a game. */
export type Measure = "lines" | "points" | "lines sent";

/** What is worth counting of a game by these rules: points where a point is not a line, lines sent where the rules count them. */
export function measuresOf({ scoring, clearPoints = ClearPoints.LINES, attack = AttackTable.OFF }: Rules): Measure[] {
  const { piece = 0, lines = [], gameEnd = 0 } = scoring ?? {};
  const pointsAreLines = clearPoints === ClearPoints.LINES && piece === 0 && gameEnd === 0 && lines.every((points, at) => points === at + 1);
  return ["lines", ...(pointsAreLines ? [] : ["points" as const]), ...(attack === AttackTable.OFF ? [] : ["lines sent" as const])];
}

/** Whether a piece can come to rest in more than one row of a column. */
export function namesSpots({ reach }: Rules): boolean {
  return reach === Reach.SRS;
}

/** Whether keys steer pieces in time, with kicks: a step is a key. */
export function steers(rules: Rules): boolean {
  return namesSpots(rules) && rules.actionModel === ActionModel.KEYPRESS;
}

/** The size of the visible field, as people say it. */
export function sizeInWords(rules: Rules): string {
  return `${rules.width} × ${visibleRows(rules)}`;
}

