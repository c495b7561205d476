// Checks answers against their requests, so that a client can rely on them.
//
// A tensor must have the type and the shape that the request and the session's specs call for. The same holds for the numbers that
// the client uses to count or allocate.

import { unreadable } from "./errors.js";
import { DataType, type Tensor, type TensorSpec } from "./protocol.js";
import { type Arrays, type ElementType, type TypedArray, elements } from "./tensors.js";

/** A length that the answer decides. */
export const ANY = -1;

/**
 * The elements of a tensor that must be present, with one of these types and this shape.
 *
 * @throws TetrionError if the tensor is absent, or has another type or shape.
 */
export function column<D extends ElementType>(name: string, tensor: Tensor | undefined, dtypes: readonly D[], shape: readonly number[]): Arrays[D] {
  if (tensor === undefined) {
    throw unreadable(`it has no ${name}`);
  }
  const { dtype, shape: found } = tensor;
  const fits = found.length === shape.length && shape.every((length, at) => length === ANY || length === found[at]);
  if (!dtypes.includes(dtype as ElementType as D) || !fits) {
    const expected = `${dtypes.map((known) => DataType[known]).join(" or ")} [${shape.map((length) => (length === ANY ? "any" : length))}]`;
    throw unreadable(`${name} is ${DataType[dtype] ?? dtype} [${found}], expected ${expected}`);
  }
  try {
    return elements(tensor) as Arrays[D];
  } catch (error) {
    throw unreadable(`${name}: ${(error as Error).message}`);
  }
}

/** The tensors of a session's answer by name, with one row per environment. Tensors have no names; they come in the order of the specs. */
export function columns(specs: readonly TensorSpec[], tensors: readonly Tensor[], rows: number): Record<string, TypedArray> {
  agree("columns", tensors.length, specs.length);
  return Object.fromEntries(specs.map(({ name, dtype, shape }, at) => [name, column(name, tensors[at], [dtype as ElementType], [rows, ...shape])]));
}

/** Checks that offsets begin at 0, end at `end` and never descend. */
export function ascending(name: string, offsets: Int32Array, end: number): void {
  if (offsets[0] !== 0 || offsets.at(-1) !== end || offsets.some((offset, at) => at > 0 && offset < offsets[at - 1]!)) {
    throw unreadable(`${name} do not ascend from 0 to ${end}`);
  }
}

/** Checks that a value of the answer is the expected one. */
export function agree(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) {
    throw unreadable(`it has ${String(found)} as ${what}, expected ${String(expected)}`);
  }
}
