// What the keys of a person who plays do, and how they are listed.

import { ActionModel, HalfTurns, type Rules } from "../src/protocol.js";
import { h } from "./dom.js";
import { namesSpots } from "./rules.js";

/** What a person can do. */
export type Act = "left" | "right" | "turn" | "turnLeft" | "turnHalf" | "down" | "drop" | "hold" | "hint" | "undo" | "new";

const KEYS: Record<string, Act> = {
  ArrowLeft: "left", a: "left", ArrowRight: "right", d: "right", ArrowUp: "turn", w: "turn", x: "turn", z: "turnLeft", y: "turnLeft",
  ArrowDown: "down", s: "down", " ": "drop", Enter: "drop", c: "hold", Shift: "hold", h: "hint", u: "undo", Backspace: "undo", n: "new",
};

/** Whether a piece can be turned by 180 degrees at once. */
export function hasHalfTurns({ halfTurns = HalfTurns.OFF }: Rules): boolean {
  return halfTurns !== HalfTurns.OFF;
}

/** What a key does under these rules. */
export function actOf({ key, repeat }: Pick<KeyboardEvent, "key" | "repeat">, rules: Rules): Act | undefined {
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (name === "a" && hasHalfTurns(rules)) {
    return "turnHalf";
  }
  const act = KEYS[name];
  // A key that is held down holds a piece once.
  return act === "hold" && (repeat || rules.hold !== true) ? undefined : act;
}

/** The keys and what they do under these rules. */
export function legend(rules: Rules): HTMLElement {
  const isKeypress = rules.actionModel === ActionModel.KEYPRESS;
  const rows: (readonly [keys: string, what: string] | false)[] = [
    ["← →", "move"],
    ["↑  X", "turn right"],
    ["Z", "turn left"],
    hasHalfTurns(rules) && ["A", "half a turn"],
    ["space", "drop"],
    isKeypress && ["↓", "down by a row"],
    namesSpots(rules) && ["↓", "next place below, under what is in the way"],
    rules.hold === true && ["C  shift", "hold"],
    ["H", "hint"],
    ["U", "undo"],
    ["N", "new game"],
  ];
  return h("dl", { class: "keys" }, ...rows.flatMap((row) => (row === false ? [] : [h("dt", {}, h("kbd", {}, row[0])), h("dd", {}, row[1])])));
}
