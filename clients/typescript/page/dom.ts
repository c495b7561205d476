// Elements of the page, made without markup in strings: the content security policy allows none, and text stays text.

/** What an element holds. */
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

/** A name and the control that it names. */
export function field(name: string, control: HTMLElement, hint?: string): HTMLElement {
  control.id ||= `control-${++ids}`;
  const label = h("label", { for: control.id }, name);
  return h("div", { class: "field", ...(hint === undefined ? {} : { title: hint }) }, label, control);
}

/** A choice among names; the first is taken unless another one is. */
export function select(options: readonly (readonly [value: string, text: string])[], value: string, change: (value: string) => void): HTMLSelectElement {
  const made = h("select", { onchange: () => change(made.value) }, ...options.map(([value, text]) => h("option", { value }, text)));
  made.value = value;
  return made;
}

/** A whole number between bounds; other input is put right when the field is left. */
export function number(value: number, min: number, max: number, change: (value: number) => void): HTMLInputElement {
  const made = h("input", {
    type: "number",
    min: String(min),
    max: String(max),
    value: String(value),
    inputMode: "numeric",
    onchange: () => {
      const whole = Math.round(Number(made.value));
      const kept = Number.isFinite(whole) && made.value !== "" ? Math.min(max, Math.max(min, whole)) : value;
      made.value = String(kept);
      if (kept !== value) {
        change((value = kept));
      }
    },
  });
  return made;
}

/** A button. */
export function button(text: string, click: () => void, kind = ""): HTMLButtonElement {
  return h("button", { type: "button", class: kind, onclick: click }, text);
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

/** A number with few digits: 0.0123, 12.3, 12,345. */
export function short(value: number): string {
  if (!Number.isFinite(value)) {
    return "–";
  }
  return Math.abs(value) >= 1000 ? grouped(value) : String(Number(value.toPrecision(3)));
}

/** Does one thing after the other, however many are asked for at once. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** Does it when everything before it is done, even if that failed. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.last.then(work);
    this.last = mine.catch(() => undefined);
    return mine;
  }
}

/** Choices that a narrow screen folds away. */
export function options(...choices: HTMLElement[]): HTMLElement {
  const wide = matchMedia("(min-width: 44.01rem)");
  const made = h("details", { class: "options", open: wide.matches }, h("summary", {}, "Choices"), h("div", { class: "fields" }, ...choices));
  wide.addEventListener("change", () => (made.open = wide.matches));
  return made;
}
