// Keys of a person who plays: their actions, their repeats, and their legend. The caller supplies the time.

import { ActionModel, HalfTurns, type Rules } from "../src/protocol.js";
import { h } from "./dom.js";
import { namesSpots, steers } from "./rules.js";

/** An action of a person. */
export type Act = "left" | "right" | "turn" | "turnLeft" | "turnHalf" | "down" | "bottom" | "drop" | "hold" | "hint" | "undo" | "new" | "pause";

/** Actions that move the current piece. */
export const MOVES: readonly Act[] = ["left", "right", "turn", "turnLeft", "turnHalf", "down", "bottom", "drop", "hold"];

const KEYS: Record<string, Act> = {
  ArrowLeft: "left", a: "left", ArrowRight: "right", d: "right", ArrowUp: "turn", w: "turn", x: "turn", z: "turnLeft", y: "turnLeft",
  ArrowDown: "down", s: "down", " ": "drop", Enter: "drop", c: "hold", h: "hint", u: "undo", Backspace: "undo", n: "new", p: "pause",
  Escape: "pause",
};

/** Whether a piece can be turned by 180 degrees at once. */
export function hasHalfTurns({ halfTurns = HalfTurns.NONE }: Rules): boolean {
  return halfTurns !== HalfTurns.NONE;
}

/** The parts of a keyboard event that matter here. */
type Press = Pick<KeyboardEvent, "key" | "repeat" | "ctrlKey" | "metaKey" | "altKey">;

/** Translates key events into actions. */
export class Keyboard {
  /** Whether shift was pressed, and no other key since. */
  private shiftAlone = false;

  /** Action of a pressed key under these rules. Shift acts when it is released, because shift and tab move the focus back. */
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

  /** Action of a released key, to end its repeats. */
  released({ key }: Pick<Press, "key">, rules: Rules): Act | undefined {
    return actOf({ key, repeat: false }, rules);
  }

  /** Action that a released key triggers: shift alone holds the piece. */
  up({ key }: Pick<Press, "key">, rules: Rules): Act | undefined {
    if (key !== "Shift" || !this.shiftAlone) {
      return undefined;
    }
    this.shiftAlone = false;
    return rules.hold === true ? "hold" : undefined;
  }

  /** Called on other input, such as a click, after which releasing shift does nothing. */
  interrupt(): void {
    this.shiftAlone = false;
  }
}

/** Action of a single key under these rules. */
function actOf({ key, repeat }: Pick<Press, "key" | "repeat">, rules: Rules): Act | undefined {
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (name === "a" && hasHalfTurns(rules)) {
    return "turnHalf";
  }
  if (name === "f" && steers(rules)) {
    return "bottom";
  }
  const act = KEYS[name];
  // A held key acts once. `Repeats` handles the keys that repeat; undo repeats by itself.
  if ((repeat && act !== "undo") || (act === "hold" && rules.hold !== true)) {
    return undefined;
  }
  return act;
}

/** Timing of repeated keys, in milliseconds. */
export interface Handling {
  /** Time that left or right is held until it repeats: delayed auto-shift. */
  readonly delay: number;
  /** Time between two repeats of left or right. At 0 the piece moves to the wall at once. */
  readonly repeat: number;
  /** Time between two rows down. */
  readonly down: number;
}

/** Default timing, as in common games. */
export const USUAL_HANDLING: Handling = { delay: 170, repeat: 50, down: 50 };

/** Actions that repeat while their key is held. */
const REPEATING: readonly Act[] = ["left", "right", "down"];

/** Held keys and their repeats. */
export class Repeats {
  private readonly held = new Map<Act, number>();

  constructor(public handling: Handling) {}

  /** A key was pressed and its action done. Of left and right, the later one moves the piece until it is released. */
  press(act: Act, now: number): void {
    if (REPEATING.includes(act)) {
      this.held.delete(act);
      this.held.set(act, now + (act === "down" ? this.handling.down : this.handling.delay));
    }
  }

  /** A key was released. */
  release(act: Act): void {
    this.held.delete(act);
  }

  /** Releases all keys, when the page loses the focus. */
  releaseAll(): void {
    this.held.clear();
  }

  /** Whether a repeating key is held. */
  get isHeld(): boolean {
    return this.held.size > 0;
  }

  /** Actions to repeat now. With a repeat time of 0 the count is infinite; the caller stops when the action has no effect. */
  due(now: number): { act: Act; times: number }[] {
    const direction = [...this.held.keys()].findLast((act) => act !== "down");
    return [...this.held].flatMap(([act, next]) => {
      if (now < next || (act !== "down" && act !== direction)) {
        return [];
      }
      const every = act === "down" ? this.handling.down : this.handling.repeat;
      // Repeats that a busy page missed are not made up for.
      this.held.set(act, now + every);
      return [{ act, times: every === 0 ? Infinity : 1 }];
    });
  }
}

/** Legend of the keys under these rules. */
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
    isKeypress && ["P  esc", "pause"],
    ["N  N", "new game"],
  ];
  return h("dl", { class: "keys" }, ...rows.flatMap((row) => (row === false ? [] : [h("div", {}, h("dt", {}, h("kbd", {}, row[0])), h("dd", {}, row[1]))])));
}
