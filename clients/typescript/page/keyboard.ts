// What the keys of a person who plays do, and how they are listed.

import { ActionModel, HalfTurns, type Rules } from "../src/protocol.js";
import { h } from "./dom.js";
import { namesSpots, steers } from "./rules.js";

/** What a person can do. */
export type Act = "left" | "right" | "turn" | "turnLeft" | "turnHalf" | "down" | "bottom" | "drop" | "hold" | "hint" | "undo" | "new";

const KEYS: Record<string, Act> = {
  ArrowLeft: "left", a: "left", ArrowRight: "right", d: "right", ArrowUp: "turn", w: "turn", x: "turn", z: "turnLeft", y: "turnLeft",
  ArrowDown: "down", s: "down", " ": "drop", Enter: "drop", c: "hold", h: "hint", u: "undo", Backspace: "undo", n: "new",
};

/** Whether a piece can be turned by 180 degrees at once. */
export function hasHalfTurns({ halfTurns = HalfTurns.OFF }: Rules): boolean {
  return halfTurns !== HalfTurns.OFF;
}

/** What is looked at of an event. */
type Press = Pick<KeyboardEvent, "key" | "repeat" | "ctrlKey" | "metaKey" | "altKey">;

/** The keys of a person, one event after the other. */
export class Keyboard {
  /** Whether shift has gone down and nothing has been pressed since. */
  private shiftAlone = false;

  /** What a key that goes down does under these rules; shift does nothing yet, since shift and tab go to the control before. */
  down(press: Press, rules: Rules): Act | undefined {
    const { key, repeat, ctrlKey, metaKey, altKey } = press;
    const withOthers = ctrlKey || metaKey || altKey;
    if (key === "Shift") {
      this.shiftAlone = !withOthers && (!repeat || this.shiftAlone);
      return undefined;
    }
    this.shiftAlone = false;
    return withOthers ? undefined : actOf(press, rules);
  }

  /** What a key that is let go does: shift alone holds. */
  up({ key }: Pick<Press, "key">, rules: Rules): Act | undefined {
    if (key !== "Shift" || !this.shiftAlone) {
      return undefined;
    }
    this.shiftAlone = false;
    return rules.hold === true ? "hold" : undefined;
  }

  /** Something else has been done meanwhile, with the pointer, say. */
  interrupt(): void {
    this.shiftAlone = false;
  }
}

/** What a key by itself does under these rules. */
function actOf({ key, repeat }: Press, rules: Rules): Act | undefined {
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (name === "a" && hasHalfTurns(rules)) {
    return "turnHalf";
  }
  if (name === "f" && steers(rules)) {
    return "bottom";
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
    steers(rules) && ["F", "down to what is in the way, without locking"],
    namesSpots(rules) && !isKeypress && ["↓", "next place below, under what is in the way"],
    rules.hold === true && ["C  shift", "hold"],
    ["H", "hint"],
    ["U", "undo"],
    ["N", "new game"],
  ];
  return h("dl", { class: "keys" }, ...rows.flatMap((row) => (row === false ? [] : [h("dt", {}, h("kbd", {}, row[0])), h("dd", {}, row[1])])));
}
