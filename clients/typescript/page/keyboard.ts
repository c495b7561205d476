// What the keys of a person who plays do, when they repeat, and how they are listed. It knows no clock: time is handed to it.

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

  /** The act of a key that is let go, for its repeats. */
  released({ key }: Pick<Press, "key">, rules: Rules): Act | undefined {
    return actOf({ key, repeat: false }, rules);
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
function actOf({ key, repeat }: Pick<Press, "key" | "repeat">, rules: Rules): Act | undefined {
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (name === "a" && hasHalfTurns(rules)) {
    return "turnHalf";
  }
  if (name === "f" && steers(rules)) {
    return "bottom";
  }
  const act = KEYS[name];
  // A key that is held down does what it does once, but for those that `Repeats` repeats, and undo.
  if ((repeat && act !== "undo") || (act === "hold" && rules.hold !== true)) {
    return undefined;
  }
  return act;
}

/** How keys repeat that are held down, in milliseconds. */
export interface Handling {
  /** How long left and right are held until they repeat: the delayed auto-shift. */
  readonly delay: number;
  /** Between two repeats of left or right; at 0 the piece goes to the wall at once. */
  readonly repeat: number;
  /** Between two rows down. */
  readonly down: number;
}

/** What players are used to. */
export const USUAL_HANDLING: Handling = { delay: 170, repeat: 50, down: 50 };

/** The acts that repeat. */
const REPEATING: readonly Act[] = ["left", "right", "down"];

/** The keys that are held down, and what they repeat. */
export class Repeats {
  private readonly held = new Map<Act, number>();

  constructor(public handling: Handling) {}

  /** A key has gone down, and its act was done. Left ends right, and the other way round. */
  press(act: Act, now: number): void {
    if (act === "left" || act === "right") {
      this.held.delete(act === "left" ? "right" : "left");
    }
    if (REPEATING.includes(act)) {
      this.held.set(act, now + (act === "down" ? this.handling.down : this.handling.delay));
    }
  }

  /** A key was let go. */
  release(act: Act): void {
    this.held.delete(act);
  }

  /** All of them: the page has lost the keyboard. */
  releaseAll(): void {
    this.held.clear();
  }

  /** Whether any key is held down that repeats. */
  get isHeld(): boolean {
    return this.held.size > 0;
  }

  /** What is to be repeated now. With a repeat of 0 that is an act without end: the caller stops where it does nothing any more. */
  due(now: number): { act: Act; times: number }[] {
    return [...this.held].flatMap(([act, next]) => {
      if (now < next) {
        return [];
      }
      const every = act === "down" ? this.handling.down : this.handling.repeat;
      // A page that was busy for a while does not make up for it.
      this.held.set(act, now + every);
      return [{ act, times: every === 0 ? Infinity : 1 }];
    });
  }
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
    steers(rules) && ["F", "down, without locking"],
    namesSpots(rules) && !isKeypress && ["↓", "next place below"],
    rules.hold === true && ["C  shift", "hold"],
    ["H", "hint"],
    ["U", "undo"],
    ["N", "new game"],
  ];
  return h("dl", { class: "keys" }, ...rows.flatMap((row) => (row === false ? [] : [h("div", {}, h("dt", {}, h("kbd", {}, row[0])), h("dd", {}, row[1]))])));
}
