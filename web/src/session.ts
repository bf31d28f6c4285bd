/**
 * The API key of this tab. It is in `sessionStorage`, which ends with the tab, and never in a URL,
 * a cookie or a form that is submitted.
 */
import { storedItem } from "./stored-item.ts";

const item = storedItem("sessionStorage", "revenue-api-key");

/** The key that this tab has; undefined if it has none. */
export function storedKey(): string | undefined {
  return item.read();
}

/** Keeps the key until the tab is closed. */
export function storeKey(key: string): void {
  item.write(key);
}

/** Forgets the key. */
export function forgetKey(): void {
  item.remove();
}
