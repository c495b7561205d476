// The numbers of a game and its last special landing, next to the playfield.

import { grouped, h } from "./dom.js";
import { type Tally, NOTHING } from "./tally.js";

/** Lines, pieces, one more number, sent lines and waiting garbage if the rules have them, and the last special landing. */
export class Facts {
  private readonly lines = h("output", { class: "big" }, "0");
  private readonly pieces = h("output", {}, "0");
  private readonly other = h("output", {}, "0");
  private readonly sent = fact("lines sent", h("output", {}, "0"));
  private readonly incoming = fact("incoming", h("output", {}, "0"));
  private readonly deed = h("p", { class: "deed" });
  readonly element: HTMLElement;

  /** With the name of the additional number. */
  constructor(private readonly name?: string) {
    const others = name === undefined ? [] : [fact(name, this.other)];
    this.element = h("div", { class: "standing" }, h("div", { class: "facts" }, fact("lines", this.lines), fact("pieces", this.pieces), ...others, this.sent, this.incoming), this.deed);
    this.show(NOTHING, "0");
  }

  /** Shows the state of a game, with the rows of garbage that wait. */
  show({ lines, pieces, sent, deed }: Tally, other?: string, incoming?: number): void {
    this.incoming.hidden = incoming === undefined;
    this.incoming.querySelector("output")!.textContent = String(incoming ?? 0);
    this.lines.textContent = grouped(lines);
    this.pieces.textContent = grouped(pieces);
    if (this.name !== undefined && other !== undefined) {
      this.other.textContent = other;
    }
    this.sent.hidden = this.deed.hidden = sent === undefined;
    this.sent.querySelector("output")!.textContent = grouped(sent ?? 0n);
    this.deed.textContent = deed;
  }
}

function fact(name: string, output: HTMLElement): HTMLElement {
  return h("div", { class: "fact" }, output, h("span", {}, name));
}
