// The numbers of a game and its last special landing, next to the playfield.

import { grouped, h } from "./dom.js";
import { type Tally, NOTHING } from "./tally.js";

/** Lines, pieces, one more number, sent lines and waiting garbage if the rules have them, and the last special landing. */
export class Facts {
  private readonly lines = h("output", { class: "big" }, "0");
  private readonly pieces = h("output", {}, "0");
  private readonly other: HTMLElement;
  private readonly sent = fact("lines sent", h("output", {}, "0"), "sent");
  private readonly received = fact("received", h("output", {}, "0"), "received");
  private readonly incoming = fact("incoming", h("output", {}, "0"), "incoming");
  private readonly deed = h("p", { class: "deed" });
  readonly element: HTMLElement;

  /** With the name of the additional number. */
  constructor(name = "") {
    this.other = fact(name, h("output", {}, "0"));
    this.element = h("div", { class: "standing" }, h("div", { class: "facts" }, fact("lines", this.lines), fact("pieces", this.pieces), this.other, this.sent, this.received, this.incoming), this.deed);
    this.show(NOTHING);
  }

  /** Shows the state of a game, with the rows of garbage that wait. */
  show({ lines, pieces, sent, received, deed }: Tally, other?: string, incoming?: number): void {
    this.lines.textContent = grouped(lines);
    this.pieces.textContent = grouped(pieces);
    for (const [fact, value] of [[this.other, other], [this.sent, sent], [this.received, received], [this.incoming, incoming]] as const) {
      fact.hidden = value === undefined;
      fact.querySelector("output")!.textContent = typeof value === "number" ? grouped(value) : value ?? "";
    }
    this.deed.hidden = sent === undefined;
    this.deed.textContent = deed;
  }
}

function fact(name: string, output: HTMLElement, kind = ""): HTMLElement {
  return h("div", { class: `fact ${kind}` }, output, h("span", {}, name));
}
