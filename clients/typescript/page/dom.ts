// Elements of the page. They are made without markup in strings, which the content security policy forbids.

import { seedOf, wholeNumber } from "./address.js";

/** Content of an element. */
export type Child = Node | string | number | null | undefined | false;

type Listeners = { [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => void };
type Properties<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], keyof Listeners | "style" | "children">>;
type Attributes = { class?: string; for?: string; [attribute: `aria-${string}` | `data-${string}`]: string };

/** An element with properties, listeners and attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  given: Properties<K> & Listeners & Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (name === "class") {
      element.className = value as string;
    } else if (name === "for" || name.startsWith("aria-") || name.startsWith("data-")) {
      element.setAttribute(name, value as string);
    } else {
      (element as unknown as Record<string, unknown>)[name] = value;
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false).map(nodeOrText));
  return element;
}

function nodeOrText(child: Exclude<Child, null | undefined | false>): Node | string {
  return child instanceof Node ? child : String(child);
}

let ids = 0;

/** A control with its label, and a hint as its tooltip. */
export function field(name: string, control: HTMLElement, hint?: string): HTMLElement {
  control.id ||= `control-${++ids}`;
  const label = h("label", { for: control.id }, name);
  return h("div", { class: "field", ...(hint === undefined ? {} : { title: hint }) }, label, control);
}

/** A list to choose from. */
export function select(options: readonly (readonly [value: string, text: string])[], value: string, change: (value: string) => void): HTMLSelectElement {
  const made = h("select", { onchange: () => change(made.value) }, ...options.map(([value, text]) => h("option", { value }, text)));
  made.value = value;
  return made;
}

/** Shows a problem below a field, or removes it. */
export function report(control: HTMLElement, problem: string | undefined): void {
  const place = control.closest(".field");
  place?.querySelector(".problem")?.remove();
  control.ariaInvalid = problem === undefined ? null : "true";
  control.removeAttribute("aria-describedby");
  if (problem !== undefined && place !== null) {
    const id = `${control.id}-problem`;
    place.append(h("span", { class: "problem", id, role: "alert" }, problem));
    control.setAttribute("aria-describedby", id);
  }
}

/** Parses a field's text and passes the value to `take`. If `parse` throws a `RangeError`, shows it below the field instead. */
function taking<T>(control: HTMLInputElement, parse: (text: string) => T, take: (value: T) => void): void {
  try {
    // A number field reads text that is no number as an empty string.
    const value = parse(control.validity.badInput ? "?" : control.value);
    report(control, undefined);
    take(value);
  } catch (problem) {
    if (!(problem instanceof RangeError)) {
      throw problem;
    }
    report(control, `Expected ${problem.message}`);
  }
}

/** A field for a whole number between bounds. Other input is reported and changes nothing. */
export function number(value: number, min: number, max: number, change: (value: number) => void): HTMLInputElement {
  const made = h("input", {
    type: "number",
    min: String(min),
    max: String(max),
    value: String(value),
    inputMode: "numeric",
    onchange: () => taking(made, (text) => wholeNumber(text, min, max), (given) => {
      made.value = String(given);
      if (given !== value) {
        change((value = given));
      }
    }),
  });
  return made;
}

/** A text field. Text that `parse` refuses with a `RangeError` is reported and changes nothing. */
export function text(value: string, parse: (text: string) => unknown, change: (text: string) => void): HTMLInputElement {
  const made = h("input", {
    type: "text",
    size: 6,
    autocomplete: "off" as const,
    value,
    onchange: () => taking(made, (text) => (parse(text), text), change),
  });
  return made;
}

/** A field for a seed. Input that is no seed is reported and changes nothing; an empty field draws a new seed. */
export class SeedField {
  private readonly input: HTMLInputElement;
  readonly element: HTMLElement;

  constructor(private seed: bigint, change: () => void) {
    this.input = h("input", {
      type: "text",
      inputMode: "numeric",
      size: 6,
      autocomplete: "off",
      onchange: () => taking(this.input, (text) => (text.trim() === "" ? drawnSeed() : seedOf(text)), (seed) => {
        this.value = seed;
        change();
      }),
    });
    this.element = field("Seed", this.input, "The same number deals the same pieces; an empty field draws another one");
    this.value = seed;
  }

  get value(): bigint {
    return this.seed;
  }

  set value(seed: bigint) {
    this.seed = seed;
    this.input.value = String(seed);
    report(this.input, undefined);
  }
}

/** A random seed, short enough to write down. */
export function drawnSeed(): bigint {
  return BigInt(crypto.getRandomValues(new Uint16Array(1))[0]!);
}

/** A region that scrolls sideways, also with the keyboard. */
export function scroll(name: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scroll", role: "region", tabIndex: 0, "aria-label": name }, ...children);
}

/** A button. */
export function button(text: string, click: () => void, kind = ""): HTMLButtonElement {
  return h("button", { type: "button", class: kind, onclick: click }, text);
}

/** A button with a sign for a name. */
export function arrow(sign: string, name: string, click: () => void): HTMLButtonElement {
  const made = button(sign, click);
  made.ariaLabel = made.title = name;
  return made;
}

/** Resolves after some milliseconds. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const GROUPED = new Intl.NumberFormat("en");

/** A whole number as people write it: 12,345. */
export function grouped(value: number | bigint): string {
  return GROUPED.format(typeof value === "bigint" ? value : Math.round(value));
}

/** A number with three significant digits: 0.0123, 12.3, 12,345. */
export function short(value: number): string {
  if (!Number.isFinite(value)) {
    return "–";
  }
  return Math.abs(value) >= 1000 ? grouped(value) : String(Number(value.toPrecision(3)));
}

/** A queue of tasks that run one after the other. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier tasks, even if they failed. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.last.then(work);
    this.last = mine.catch(() => undefined);
    return mine;
  }
}

/** Media query for screens with room for all choices of a view. */
const ROOMY = "(min-width: 76rem) and (min-height: 34rem)";

/** Choices of a view. On small screens they fold away below a button. */
export function options(...choices: HTMLElement[]): HTMLElement {
  const wide = matchMedia(ROOMY);
  const made = h("details", { class: "options", open: wide.matches }, h("summary", {}, "Choices"), h("div", { class: "fields" }, ...choices));
  wide.addEventListener("change", () => (made.open = wide.matches));
  return folding(made, () => wide.matches);
}

/** Closes a disclosure on Escape and on a click outside it, unless `staysOpen` says otherwise. */
export function folding(made: HTMLDetailsElement, staysOpen: () => boolean = () => false): HTMLDetailsElement {
  const fold = () => (made.open = made.open && staysOpen());
  document.addEventListener("keydown", ({ key }) => made.isConnected && key === "Escape" && fold());
  document.addEventListener("pointerdown", ({ target }) => made.isConnected && !made.contains(target as Node) && fold());
  return made;
}

/** A button that copies a text and confirms it. */
export function copyButton(name: string, text: () => string, kind = ""): HTMLButtonElement {
  const made = button(name, () => void copy(text()).then((done) => {
    made.textContent = done ? "Copied" : "Not allowed to copy";
    setTimeout(() => (made.textContent = name), 2000);
  }), kind);
  made.ariaLive = "polite";
  return made;
}

/** Copies a text. Pages from another host without TLS lack the clipboard API and use the old command. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { value: text, class: "only-read" });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Saves a text as a file of the user. */
export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
