// Fields of the rules, from the protocol's descriptor: their names and the texts that they accept. A new field of the protocol
// appears in forms and addresses without a change here. The server checks which values go together.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

import { type Rules, RulesSchema } from "../src/protocol.js";
import { wholeNumber } from "./address.js";

/** A field of the rules, or of a message in them. */
export interface RulesField {
  /** Path of the field in the protocol: `half_turns`, `garbage.delay_pieces`. */
  readonly path: string;
  /** Names of the values of a choice; undefined for other fields. */
  readonly names: readonly string[] | undefined;
  /** Parses a text. Throws a `RangeError` with the expected values. */
  parse(text: string): unknown;
  /** Value of the field in some rules as text; empty if absent. */
  read(rules: Rules | undefined): string;
  /** Writes a value into a rules message. */
  write(message: Record<string, unknown>, value: unknown): void;
}

/** Fields that the form shows elsewhere, and `pieceSet`, whose other pieces the page cannot draw. */
export const APART = ["width", "height", "rowsAbove", "preview", "actionModel", "players", "pieceSet"] as const;

/** All other fields, in the protocol's order. */
export const RULES_FIELDS: readonly RulesField[] = RulesSchema.fields.filter(({ localName }) => !["preset", ...APART].includes(localName)).flatMap((field) => [...fieldsOf(field, [])]);

/** Values of fields as text, by path. */
export type Changes = Readonly<Record<string, string>>;

/** Changes as a rules message. */
export function messageOf(changes: Changes): Record<string, unknown> {
  const message = {};
  for (const field of RULES_FIELDS) {
    const text = changes[field.path];
    if (text !== undefined) {
      field.write(message, field.parse(text));
    }
  }
  return message;
}

function* fieldsOf(field: DescField, within: readonly DescField[]): Generator<RulesField> {
  const members = [...within, field];
  if (field.fieldKind === "message") {
    for (const inner of (field.message as DescMessage).fields) {
      yield* fieldsOf(inner, members);
    }
    return;
  }
  const { names, parse, write: written } = textsOf(field);
  yield {
    path: members.map(({ name }) => name).join("."),
    names,
    parse,
    read(rules) {
      const value = members.reduce<unknown>((inner, { localName }) => (inner as Record<string, unknown> | undefined)?.[localName], rules);
      return value === undefined ? "" : written(value);
    },
    write(message, value) {
      const inner = within.reduce((outer, { localName }) => (outer[localName] ??= {}) as Record<string, unknown>, message);
      inner[field.localName] = value;
    },
  };
}

/** Functions that parse and write the values of a field. */
function textsOf(field: DescField): { names: readonly string[] | undefined; parse: (text: string) => unknown; write: (value: unknown) => string } {
  if (field.enum !== undefined) {
    // The first value is UNSPECIFIED.
    const values = new Map(field.enum.values.slice(1).map(({ localName, number }) => [localName.toLowerCase(), number]));
    return choice(values);
  }
  if (field.fieldKind === "list") {
    return { names: undefined, parse: (text) => text.split(",").map(numberOf), write: String };
  }
  switch (field.scalar) {
    case ScalarType.BOOL:
      return choice(new Map([["no", false], ["yes", true]]));
    case ScalarType.DOUBLE:
      return { names: undefined, parse: numberOf, write: String };
    case ScalarType.UINT32:
      return { names: undefined, parse: (text) => wholeNumber(text, 0, 0xffffffff), write: String };
    default:
      return { names: undefined, parse: (text) => text, write: String };
  }
}

function choice(values: ReadonlyMap<string, unknown>): ReturnType<typeof textsOf> {
  const names = [...values.keys()];
  const parse = (text: string) => {
    if (!values.has(text)) {
      throw new RangeError(`one of ${names.join(", ")}`);
    }
    return values.get(text);
  };
  return { names, parse, write: (value) => names.find((name) => values.get(name) === value) ?? "" };
}

function numberOf(text: string): number {
  const value = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) {
    throw new RangeError("a number");
  }
  return value;
}
