// Plain objects as messages: how callers write rules, features, positions and agents.
//
// A plain object has the fields of its message. In addition a value of an enum may be its name, rules may be a preset's name, and
// features may be the name of a set or a list. This file converts; `requests.ts` checks the result.

import type { DescField, DescMessage } from "@bufbuild/protobuf";

import {
  type ActionModel,
  type Activation,
  type Agent as AgentMessage,
  type AttackTable,
  type AutoresetMode,
  type ClearPoints,
  type Expectation as ExpectationMessage,
  type ExpectationTerms,
  type FeatureSelection,
  FeatureSelectionSchema,
  type HalfTurns,
  type InvalidActionPolicy,
  type Mlp as MlpMessage,
  type NTuple as NTupleMessage,
  type OrientationTable,
  type Positions as PositionsMessage,
  type Randomizer,
  type Reach,
  type RenderFormat,
  type RotationSystem,
  type Rules as RulesMessage,
  RulesSchema,
  type SpinRule,
  type Tensor,
  type TerminalValue,
  type TopOut,
  type TupleKind,
} from "./protocol.js";

type Enum =
  | typeof ActionModel
  | typeof Activation
  | typeof AttackTable
  | typeof AutoresetMode
  | typeof ClearPoints
  | typeof ExpectationTerms
  | typeof HalfTurns
  | typeof InvalidActionPolicy
  | typeof OrientationTable
  | typeof Randomizer
  | typeof Reach
  | typeof RenderFormat
  | typeof RotationSystem
  | typeof SpinRule
  | typeof TerminalValue
  | typeof TopOut
  | typeof TupleKind;

/** Name of an enum's value in one of these enums, in lower case, such as `bag7`. */
type NameIn<E, Value> = E extends Enum ? { [Name in keyof E]: Value extends E[Name] ? Lowercase<Name & string> : never }[keyof E] : never;

/** A value of an enum: its number or its name. Other numbers stay numbers; `number` would be assignable to an enum, hence the strings. */
type Choice<Value extends number> = `${number}` extends `${Value}` ? Value : Value | Exclude<NameIn<Enum, Value>, "unspecified">;

/** A plain value for a field of a message. */
export type Plain<Value> = Value extends RulesMessage ? string | Fields<Value>
  : Value extends FeatureSelection ? string | readonly string[] | Fields<Value>
  : Value extends Tensor | Uint8Array ? Value
  : Value extends readonly (infer Element)[] ? readonly Plain<Element>[]
  : Value extends object ? Fields<Value>
  : Value extends number ? Choice<Value>
  : Value;

/** The fields of a message, as plain values. */
type Fields<Message> = { readonly [Name in keyof Message as Name extends `$${string}` ? never : Name]?: Plain<Message[Name]> | undefined };

/** Rules: the name of a preset, or fields, such as `{ preset: "lab", width: 6, randomizer: "bag7" }`. */
export type RulesLike = Plain<RulesMessage>;
/** Features: the name of a set, or a list, such as `["holes", "bumpiness"]`. */
export type FeaturesLike = Plain<FeatureSelection>;
/** Positions: snapshots, drawings or packed playfields, with their rules. */
export type Positions = Plain<PositionsMessage>;
/** An agent with its parameters, such as `{ name: "dt-10", lookahead: 1 }`. */
export type Agent = Plain<AgentMessage>;
/** How a linear controller evaluates what the next pieces can reach. */
export type Expectation = Plain<ExpectationMessage>;
/** The shape of a multilayer perceptron. */
export type Mlp = Plain<MlpMessage>;
/** The tuples of an n-tuple network. */
export type NTuple = Plain<NTupleMessage>;

/** The message for a plain object. What cannot be converted stays as it is. */
function plainMessage(schema: DescMessage, value: unknown): unknown {
  if (schema.typeName === RulesSchema.typeName && typeof value === "string") {
    return { preset: value };
  }
  if (schema.typeName === FeatureSelectionSchema.typeName && (typeof value === "string" || Array.isArray(value))) {
    return typeof value === "string" ? { featureSet: value } : { features: value };
  }
  // A message is its own form, and other values are not objects of fields.
  if (Object.prototype.toString.call(value) !== "[object Object]" || "$typeName" in (value as object)) {
    return value;
  }
  const fields = Object.entries(value as object).filter(([, content]) => content !== undefined);
  return Object.fromEntries(fields.map(([name, content]) => {
    const field = schema.fields.find(({ localName }) => localName === name);
    return [name, field === undefined ? content : fromPlain(field, content)];
  }));
}

/** The value of a field for a plain value. What cannot be converted stays as it is. */
export function fromPlain(field: DescField, value: unknown): unknown {
  const convert = (element: unknown): unknown => {
    if (field.message !== undefined) {
      return plainMessage(field.message, element);
    }
    const named = typeof element === "string" && field.enum?.values.slice(1).find(({ localName }) => localName.toLowerCase() === element);
    return named ? named.number : element;
  };
  return field.fieldKind !== "list" ? convert(value) : Array.isArray(value) ? Array.from(value, convert) : value;
}
