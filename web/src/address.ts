/**
 * The address of the page: what is shown, of which period, in which time zone. So a reload, Back, a bookmark
 * and a link keep them. The key is never in it, nor anything else that is not named here.
 */
import { useCallback, useEffect, useState } from "preact/hooks";
import { type Period, textOf } from "./period/period.ts";

const NAMES = ["zone", "period", "chart", "statement", "charges", "server"] as const;

/** The parts of an address. Each is a text that somebody may have written by hand. */
export type Address = { readonly [Name in (typeof NAMES)[number]]?: string | undefined };

/** The figures, in place of what was opened from them. */
export const FIGURES: Address = { statement: undefined, charges: undefined, server: undefined };

/** Reads the query of a URL: `?zone=UTC`. */
export function readAddress(query: string): Address {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries(NAMES.map((name) => [name, parameters.get(name) || undefined]));
}

/** The query of an address. */
export function writeAddress(address: Address): string {
  const pairs = NAMES.map((name) => [name, address[name] ?? ""]).filter(([, value]) => value);
  return `?${new URLSearchParams(pairs)}`;
}

/** The query that leads from the present address to what differs. */
export function linkTo(change: Address): string {
  return writeAddress({ ...readAddress(location.search), ...change });
}

/** The query of the charges of a period, or of a server in it. */
export function chargesOf(period: Period, server?: string): string {
  return linkTo({ charges: textOf(period), server });
}

/** Goes to another address, in place of the present one if so. */
export type Go = (change: Address, replace?: boolean) => void;

/** The present address, and how to go to another one. Links to a query do not load the page again. */
export function useAddress(): readonly [Address, Go] {
  const [address, setAddress] = useState(() => readAddress(location.search));
  const go: Go = useCallback((change, replace = false) => {
    const query = linkTo(change);
    history[replace ? "replaceState" : "pushState"](null, "", query);
    setAddress(readAddress(query));
  }, []);
  useEffect(() => {
    const back = () => setAddress(readAddress(location.search));
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element).closest("a");
      const query = link?.getAttribute("href") ?? "";
      // With a key that is held down, the browser opens another tab.
      const isOther = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
      if (!query.startsWith("?") || isOther) return;
      event.preventDefault();
      go(readAddress(query));
      scrollTo(0, 0);
      document.querySelector("main")?.focus();
    };
    addEventListener("popstate", back);
    addEventListener("click", follow);
    return () => {
      removeEventListener("popstate", back);
      removeEventListener("click", follow);
    };
  }, [go]);
  return [address, go];
}
