// What this tab keeps over a reload, as JSON. Storage may be forbidden or full, and may hold anything: then nothing is kept.

/** What was kept under a name, if `isIt` says that it is what it should be. */
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
    // Then it is gone with the page.
  }
}

function storageOf(storage: "local" | "session"): Storage {
  return storage === "local" ? localStorage : sessionStorage;
}
