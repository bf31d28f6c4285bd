/**
 * The API key of this tab. It is in `sessionStorage`, which ends with the tab, and never in a URL,
 * a cookie or a form that is submitted.
 */
const NAME = "revenue-api-key";

/** If a person blocks site data, the storage throws: then nothing is kept, and the page works until it is closed. */
function use<T>(access: (storage: Storage) => T): T | undefined {
  try {
    return access(sessionStorage);
  } catch {
    return undefined;
  }
}

/** The key that this tab has; undefined if it has none. */
export function storedKey(): string | undefined {
  return use((storage) => storage.getItem(NAME)) ?? undefined;
}

/** Keeps the key until the tab is closed. */
export function storeKey(key: string): void {
  use((storage) => storage.setItem(NAME, key));
}

/** Forgets the key. */
export function forgetKey(): void {
  use((storage) => storage.removeItem(NAME));
}
