// Values in the browser's storage, as JSON. If storage is forbidden, full or has other content, nothing is kept.

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

function storageOf(storage: "local" | "session"): Storage {
  return storage === "local" ? localStorage : sessionStorage;
}
