// Actions as their digits: numbers in a mixed radix, which the server describes.

import type { ActionDigit } from "./protocol.js";

/** The sizes of digits by their names, the most significant first, as in `session.actionDigits`. */
export type ActionDigits = readonly Pick<ActionDigit, "name" | "size">[];

/**
 * The digits of an action by their names, such as `{ orientation: 2, column: 3 }`.
 *
 * @throws TypeError if there is no such action.
 */
export function decodeAction(digits: ActionDigits, action: number): Record<string, number> {
  check("action", action, digits.reduce((product, { size }) => product * size, 1));
  const values: [string, number][] = [];
  let rest = action;
  for (const { name, size } of [...digits].reverse()) {
    values.unshift([name, rest % size]);
    rest = Math.floor(rest / size);
  }
  return Object.fromEntries(values);
}

/**
 * The action with these digits. A digit without an entry is 0. The action may not exist in a given position.
 *
 * @throws TypeError if a digit has no such value, or if there is no such digit.
 */
export function encodeAction(digits: ActionDigits, values: Readonly<Record<string, number>>): number {
  const names = digits.map(({ name }) => name);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`${unknown} is no digit of an action, expected ${names.join(", ")}`);
  }
  return digits.reduce((action, { name, size }) => action * size + check(name, name in values ? values[name] : 0, size), 0);
}

/** Checks that a number is an integer from 0 to `count - 1`. */
function check(name: string, value: number | undefined, count: number): number {
  if (!Number.isInteger(value) || value! < 0 || value! >= count) {
    throw new TypeError(`${name} is ${value}, expected an integer from 0 to ${count - 1}`);
  }
  return value!;
}
