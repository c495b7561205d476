// What each choice of a recorded game gives away, as bars over the steps, their heights the square roots of the losses: the last
// choice of a lost game would flatten all others. A click goes to a step.

import { short } from "./dom.js";
import type { Verdict } from "./course.js";
import { Surface, colour } from "./surface.js";

/** The bars. */
export class Losses {
  readonly surface: Surface;
  private verdicts: readonly (Verdict | undefined)[] = [];
  private numSteps = 1;
  private step = 0;

  /** `go` is called with the step that the user points at. */
  constructor(go: (step: number) => void) {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), "losses pressable", "Losses");
    const { canvas } = this.surface;
    const follow = ({ offsetX, buttons, type }: PointerEvent) => {
      if (type === "pointerdown" || buttons === 1) {
        go(this.nearest(offsetX));
      }
    };
    canvas.addEventListener("pointerdown", follow);
    canvas.addEventListener("pointermove", follow);
  }

  /** Marks a step. */
  mark(step: number): void {
    this.step = step;
    this.surface.redraw();
  }

  /** Shows the verdicts of a player on the first of `numSteps` steps. */
  show(verdicts: readonly (Verdict | undefined)[], numSteps: number, player: string): void {
    [this.verdicts, this.numSteps] = [verdicts, Math.max(1, numSteps)];
    const known = verdicts.flatMap((verdict) => verdict ?? []);
    const best = known.filter(({ rank }) => rank === 1).length;
    this.surface.label = `Losses by ${player}: ${best} of ${known.length} choices are its best, the largest loss is ${short(this.largest)}`;
    this.surface.redraw();
  }

  private get largest(): number {
    return this.verdicts.reduce((most, verdict) => (verdict !== undefined && Number.isFinite(verdict.loss) ? Math.max(most, verdict.loss) : most), 0);
  }

  /** The step with the largest loss within a few pixels. */
  private nearest(x: number): number {
    const wide = this.surface.canvas.clientWidth;
    const at = (x: number) => Math.max(0, Math.min(this.numSteps - 1, Math.floor((x / wide) * this.numSteps)));
    const [from, to] = [at(x - 3), at(x + 3)];
    let [best, most] = [at(x), 0];
    for (let step = from; step <= to; step++) {
      const loss = this.verdicts[step]?.loss ?? 0;
      [best, most] = loss > most ? [step, loss] : [best, most];
    }
    return best;
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const [base, tall] = [height - 1, height - 8];
    const size = width / this.numSteps;
    const most = this.largest || 1;
    pen.fillStyle = colour("--line");
    pen.fillRect(0, base, width, 1);
    this.verdicts.forEach((verdict, step) => {
      if (verdict === undefined || verdict.loss === 0) {
        return;
      }
      const isKnown = Number.isFinite(verdict.loss);
      pen.fillStyle = colour(isKnown ? "--series-2" : "--series-4");
      const high = isKnown ? Math.max(1.5, Math.sqrt(verdict.loss / most) * tall) : tall;
      pen.fillRect(step * size, base - high, Math.max(1.2, size - 0.5), high);
    });
    pen.fillStyle = colour("--text");
    pen.fillRect(Math.min(width - 1.5, (this.step + 0.5) * size), 0, 1.5, height);
  }
}
