// Values in the browser's storage, as JSON, and settings, as text. If storage is forbidden, full or has other content, nothing is kept.

/** The value under a name, if `isIt` accepts it. */
export function kept<T>(storage: "local" | "session", name: string, isIt: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(storageOf(storage).getItem(name) ?? "null");
    return isIt(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a value under a name. */
export function keep(storage: "local" | "session", name: string, value: unknown): void {
  try {
    storageOf(storage).setItem(name, JSON.stringify(value));
  } catch {
    // The value is lost with the page.
  }
}

/** Reads a setting from the browser's storage, or writes it. */
export function remember(storage: () => Storage, key: string, value?: string): string | null {
  try {
    if (value !== undefined) {
      storage().setItem(key, value);
    }
    return storage().getItem(key);
  } catch {
    return value ?? null;
  }
}

function storageOf(storage: "local" | "session"): Storage {
  return storage === "local" ? localStorage : sessionStorage;
}
