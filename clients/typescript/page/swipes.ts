// Gestures on the playfield of a touch screen: a drag moves the piece with the finger, a flick down drops it, a flick up holds it,
// and a tap turns it, to the left on the left half.

import type { Act } from "./keyboard.js";

/** Milliseconds within which a gesture is a tap or a flick. */
const QUICK = 250;

/** Calls `press` for gestures on a canvas. `cell` is the size of a cell in CSS pixels. */
export function followSwipes(canvas: HTMLCanvasElement, cell: () => number, press: (act: Act) => void): void {
  let finger: { readonly id: number; readonly began: number; readonly x: number; readonly y: number } | undefined;
  /** Where the last move was made. */
  let [atX, atY] = [0, 0];
  let axis: "across" | "down" | undefined;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" || finger !== undefined) {
      return;
    }
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    finger = { id: event.pointerId, began: event.timeStamp, x: event.clientX, y: event.clientY };
    [atX, atY, axis] = [event.clientX, event.clientY, undefined];
  });
  canvas.addEventListener("pointermove", ({ pointerId, clientX, clientY, timeStamp }) => {
    if (finger?.id !== pointerId) {
      return;
    }
    const size = cell();
    const isSlow = timeStamp - finger.began > QUICK;
    if (axis === undefined) {
      axis = Math.abs(clientX - atX) >= size ? "across" : isSlow && clientY - atY >= size ? "down" : undefined;
      // What was dragged while it might have been a flick is not made up for.
      atY = axis === "down" ? clientY - size : atY;
    }
    for (; axis === "across" && Math.abs(clientX - atX) >= size; atX += Math.sign(clientX - atX) * size) {
      press(clientX > atX ? "right" : "left");
    }
    for (; axis === "down" && clientY - atY >= size; atY += size) {
      press("down");
    }
  });
  canvas.addEventListener("pointerup", ({ pointerId, clientX, clientY, offsetX, timeStamp }) => {
    if (finger?.id !== pointerId) {
      return;
    }
    const { x, y, began } = finger;
    finger = undefined;
    if (axis !== undefined || timeStamp - began > QUICK) {
      return;
    }
    const [across, down] = [Math.abs(clientX - x), clientY - y];
    if (Math.abs(down) >= 1.5 * cell() && Math.abs(down) > across) {
      press(down > 0 ? "drop" : "hold");
    } else if (Math.abs(down) < cell() / 2 && across < cell() / 2) {
      press(offsetX < canvas.clientWidth / 2 ? "turnLeft" : "turn");
    }
  });
  canvas.addEventListener("pointercancel", () => (finger = undefined));
}
