// The address of the page: `#VIEW?CHOICE=VALUE&...`. It has the view and its choices, so that a reloaded page, a bookmark or a link
// shows the same games. It never contains a token.

/** Choices of a view, by name. */
export type Choices = Readonly<Record<string, string>>;

/** The view and the choices in an address. The view is empty if the address has none. */
export function readAddress(hash: string): { view: string; choices: Choices } {
  const [view = "", query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  return { view, choices: Object.fromEntries(new URLSearchParams(query)) };
}

/** The fragment of an address. Characters that need no escape in a fragment stay readable. */
export function writeAddress(view: string, choices: Choices): string {
  const query = new URLSearchParams(choices).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return query === "" ? `#${view}` : `#${view}?${query}`;
}

/** Reads the choices of an address, and collects their problems. */
export class Reader {
  /** A sentence for each unusable choice. */
  readonly problems: string[] = [];
  /** Names of the choices that the view has read. */
  private readonly known = new Set<string>();

  constructor(private readonly choices: Choices) {}

  /** The text of a choice; undefined if absent. */
  text(name: string): string | undefined {
    this.known.add(name);
    return this.choices[name];
  }

  /** A choice among known names; undefined if absent or unknown. */
  oneOf(name: string, known: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined || known.includes(value)) {
      return value;
    }
    this.refuse(name, value, `one of ${known.join(", ")}`);
    return undefined;
  }

  /** A parsed choice; undefined if absent or refused. `parse` throws a `RangeError` with the expected values. */
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

  /** Refuses choices that the view has not read, because it has no such choice. */
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

/** Parses a whole number between bounds. Throws a `RangeError` with the expected values. */
export function wholeNumber(text: string, min: number, max: number): number {
  const value = /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) {
    throw new RangeError(`a whole number from ${min} to ${max}`);
  }
  return value;
}

/** Parses a seed. Throws a `RangeError` unless it is a whole number below 2^64. */
export function seedOf(text: string): bigint {
  const seed = /^\s*\d{1,20}\s*$/.test(text) ? BigInt(text) : undefined;
  if (seed === undefined || seed >= 2n ** 64n) {
    throw new RangeError("a whole number from 0 to 18446744073709551615");
  }
  return seed;
}
