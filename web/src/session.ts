/**
 * The API key of this tab. It is in `sessionStorage`, which ends with the tab, and never in a URL,
 * a cookie or a form that is submitted.
 */
const ITEM = "revenue-api-key";

/** The key that this tab has; undefined if it has none. */
export function storedKey(): string | undefined {
  return sessionStorage.getItem(ITEM) ?? undefined;
}

/** Keeps the key until the tab is closed. */
export function storeKey(key: string): void {
  sessionStorage.setItem(ITEM, key);
}

/** Forgets the key. */
export function forgetKey(): void {
  sessionStorage.removeItem(ITEM);
}
