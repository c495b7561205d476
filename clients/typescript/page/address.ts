// The address of the page: `#VIEW?CHOICE=VALUE&...`. It names the view and what was chosen in it, so that a reloaded page, a
// bookmark or a link shows the same games. It never holds a token.

/** Choices of a view, by name. */
export type Choices = Readonly<Record<string, string>>;

/** The view that an address names and its choices; the view is empty where the address names none. */
export function readAddress(hash: string): { view: string; choices: Choices } {
  const [view = "", query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  return { view, choices: Object.fromEntries(new URLSearchParams(query)) };
}

/** The part of an address after the path. Signs that need no escape in a fragment stay readable. */
export function writeAddress(view: string, choices: Choices): string {
  const query = new URLSearchParams(choices).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return query === "" ? `#${view}` : `#${view}?${query}`;
}

/** Reads the choices of an address, and collects what is wrong with them. */
export class Reader {
  /** A sentence for each choice that cannot be used. */
  readonly problems: string[] = [];
  /** The choices that were asked for. */
  private readonly known = new Set<string>();

  constructor(private readonly choices: Choices) {}

  /** The text of a choice; undefined where the address has none. */
  text(name: string): string | undefined {
    this.known.add(name);
    return this.choices[name];
  }

  /** One of some names; undefined where the address has none, or another one. */
  oneOf(name: string, known: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined || known.includes(value)) {
      return value;
    }
    this.refuse(name, value, `one of ${known.join(", ")}`);
    return undefined;
  }

  /** What `parse` makes of a text, which throws a `RangeError` with the values that it expects. */
  parsed<T>(name: string, parse: (text: string) => T): T | undefined {
    const value = this.text(name);
    try {
      return value === undefined ? undefined : parse(value);
    } catch (problem) {
      if (!(problem instanceof RangeError)) {
        throw problem;
      }
      this.refuse(name, value!, problem.message);
      return undefined;
    }
  }

  /** Refuses the choices that nothing has asked for: the view has none of that name, or not under these rules. */
  refuseOthers(): void {
    const expected = this.known.size === 0 ? "no choices in this view" : `only ${[...this.known].join(", ")}`;
    for (const [name, value] of Object.entries(this.choices)) {
      if (!this.known.has(name)) {
        this.refuse(name, value, expected);
      }
    }
  }

  private refuse(name: string, value: string, expected: string): void {
    const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;
    this.problems.push(`The address has ${name}=${shown}, expected ${expected}.`);
  }
}

/** A whole number between bounds. Throws a `RangeError` with what was expected. */
export function wholeNumber(text: string, min: number, max: number): number {
  const value = /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) {
    throw new RangeError(`a whole number from ${min} to ${max}`);
  }
  return value;
}

/** Throws a `RangeError` unless a text is a seed: a whole number below 2^64. */
export function seedOf(text: string): bigint {
  const seed = /^\s*\d{1,20}\s*$/.test(text) ? BigInt(text) : undefined;
  if (seed === undefined || seed >= 2n ** 64n) {
    throw new RangeError("a whole number from 0 to 18446744073709551615");
  }
  return seed;
}
