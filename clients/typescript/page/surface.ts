// A canvas with the resolution of the screen. It repaints itself when its size, its content or the theme changes.

import { h } from "./dom.js";

/** Paints on a surface of this size, in CSS pixels. */
export type Painter = (pen: CanvasRenderingContext2D, width: number, height: number) => void;

const all = new Set<Surface>();
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    for (const surface of all) {
      if (surface.canvas === target) {
        surface.redraw();
      }
    }
  }
});

/** Repaints all surfaces after a change of the theme or the palette. */
export function redrawAll(): void {
  colours.clear();
  for (const surface of all) {
    surface.redraw();
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);

/** A canvas that repaints at most once per frame. */
export class Surface {
  readonly canvas: HTMLCanvasElement;
  private waiting = false;

  constructor(private readonly paint: Painter, kind: string, label: string) {
    this.canvas = h("canvas", { class: kind, role: "img", "aria-label": label });
    all.add(this);
    resized.observe(this.canvas);
  }

  /** Description for screen readers. */
  set label(text: string) {
    if (this.canvas.ariaLabel !== text) {
      this.canvas.ariaLabel = text;
    }
  }

  /** Repaints with the next frame. */
  redraw(): void {
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.now();
      });
    }
  }

  /** Stops repainting. */
  drop(): void {
    resized.unobserve(this.canvas);
    all.delete(this);
  }

  private now(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const pen = this.canvas.getContext("2d");
    if (width === 0 || height === 0 || pen === null) {
      return;
    }
    const scale = devicePixelRatio;
    const [columns, rows] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== columns || this.canvas.height !== rows) {
      this.canvas.width = columns;
      this.canvas.height = rows;
    }
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.paint(pen, width, height);
  }
}

const colours = new Map<string, string>();

/** Current value of a colour in the style sheet, such as `--muted`. */
export function colour(name: string): string {
  let value = colours.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    colours.set(name, value);
  }
  return value;
}
