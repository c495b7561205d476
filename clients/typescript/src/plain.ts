// Plain objects as messages: how callers write rules, features, positions and policies.
//
// A plain object has the fields of its message, those of a oneof too: `{ name: "dt-10" }` for `{ kind: { case: "name", value: "dt-10" } }`.
// In addition a value of an enum may be its name, rules may be a preset's name, features may be the name of a set or a list, and a
// message that only holds a list may be the list. This file converts; `requests.ts` checks the result.

import type { DescField, DescMessage } from "@bufbuild/protobuf";

import {
  type ActionMaskFormat,
  type ActionModel,
  type Activation,
  type AttackTable,
  type AutoresetMode,
  type ClearPoints,
  type Drawings,
  type ExpectationTerms,
  type FeatureNames,
  type FeatureSelection,
  FeatureSelectionSchema,
  type HalfTurns,
  type InvalidActionPolicy,
  type Mlp as MlpMessage,
  type NTuple as NTupleMessage,
  type OrientationTable,
  type Palette,
  type Policy as PolicyMessage,
  type Positions as PositionsMessage,
  type Randomizer,
  type Reach,
  type RenderFormat,
  type RotationSystem,
  type Rules as RulesMessage,
  RulesSchema,
  type Search as SearchMessage,
  type Snapshots,
  type SpinRule,
  type Tensor,
  type TerminalValue,
  type TopOut,
  type TupleKind,
} from "./protocol.js";

type Enum =
  | typeof ActionMaskFormat
  | typeof ActionModel
  | typeof Activation
  | typeof AttackTable
  | typeof AutoresetMode
  | typeof ClearPoints
  | typeof ExpectationTerms
  | typeof HalfTurns
  | typeof InvalidActionPolicy
  | typeof OrientationTable
  | typeof Palette
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
  : Value extends Drawings | FeatureNames | Snapshots ? Plain<Content<Value>> | Fields<Value>
  : Value extends Tensor | Uint8Array ? Value
  : Value extends readonly (infer Element)[] ? readonly Plain<Element>[]
  : Value extends object ? Fields<Value>
  : Value extends number ? Choice<Value>
  : Value;

/** The fields of a message, as plain values. */
type Fields<Message> =
  & { readonly [Name in keyof Message as Name extends `$${string}` | Oneofs<Message> ? never : Name]?: Plain<Message[Name]> | undefined }
  & { readonly [Member in Members<Message> as Member["case"]]?: Plain<Member["value"]> | undefined };

/** The names of the oneofs of a message. */
type Oneofs<Message> = { [Name in keyof Message]-?: Message[Name] extends { readonly case: string | undefined } ? Name : never }[keyof Message];
/** The members of the oneofs of a message. */
type Members<Message> = Extract<Message[Oneofs<Message>], { readonly case: string; readonly value: unknown }>;
/** The list of a message that only holds a list. */
type Content<Message> = Extract<Message[keyof Message], readonly unknown[]>;

/** Rules: the name of a preset, or fields, such as `{ preset: "lab", width: 6, randomizer: "bag7" }`. */
export type RulesLike = Plain<RulesMessage>;
/** Features: the name of a set, or a list, such as `["holes", "bumpiness"]`. */
export type FeaturesLike = Plain<FeatureSelection>;
/** Positions: `snapshots`, `drawings` or `packed` playfields, with their rules. */
export type Positions = Plain<PositionsMessage>;
/** A policy, such as `{ name: "dt-10", search: { lookahead: { pieces: 1 } } }`. */
export type PlainPolicy = Plain<PolicyMessage>;
/** How far a policy looks ahead, such as `{ expectation: {} }`. */
export type Search = Plain<SearchMessage>;
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
    return { kind: typeof value === "string" ? { case: "featureSet", value } : { case: "names", value: { names: value } } };
  }
  const [only, ...others] = schema.members;
  if (Array.isArray(value) && others.length === 0 && only?.kind === "field") {
    return { [only.localName]: fromPlain(only, value) };
  }
  // A message is its own form, and other values are not objects of fields.
  if (Object.prototype.toString.call(value) !== "[object Object]" || "$typeName" in (value as object)) {
    return value;
  }
  const message: Record<string, unknown> = {};
  for (const [name, content] of Object.entries(value as object).filter(([, content]) => content !== undefined)) {
    const field = schema.fields.find(({ localName }) => localName === name);
    const oneof = field?.oneof?.localName;
    if (field === undefined || (oneof !== undefined && oneof in message)) {
      message[name] = content; // which the check refuses
    } else if (oneof !== undefined) {
      message[oneof] = { case: name, value: fromPlain(field, content) };
    } else {
      message[name] = fromPlain(field, content);
    }
  }
  return message;
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
