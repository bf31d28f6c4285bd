/** The time zone of the page: that of its address, or of the browser. */
import { useCallback, useState } from "preact/hooks";
import type { Problem } from "./call/problem.ts";
import { UTC } from "./instant.ts";

/** Zones that browsers call by a name that the IANA database gave up, and its name for each. */
const RENAMED: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Godthab": "America/Nuuk",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/** The zone, and what it can be. */
export interface Zone {
  readonly timeZone: string;
  /** The zones to choose from. */
  readonly choices: readonly string[];
  /** Why a zone is not among them. */
  readonly problem: Problem | undefined;
  /** Leaves the zone out. */
  refuse(problem: Problem): void;
}

/** The present name of a zone in its upper and lower case; undefined if the browser has no such zone. */
export function zoneNamed(timeZone: string | undefined): string | undefined {
  if (timeZone === undefined) return undefined;
  try {
    const { timeZone: name } = new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions();
    return RENAMED[name] ?? name;
  } catch {
    return undefined;
  }
}

/** Keeps the zone: the one that was asked for, if there is such a zone. */
export function useZone(asked: string | undefined): Zone {
  const [refused, setRefused] = useState<{ names: string[]; problem?: Problem }>({ names: [] });
  const own = zoneNamed(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  const chosen = zoneNamed(asked);
  const names = [...new Set([own, chosen, UTC])].filter((name) => name !== undefined);
  const choices = names.filter((name) => !refused.names.includes(name));
  const timeZone = choices.find((name) => name === chosen) ?? choices[0] ?? UTC;
  const refuse = useCallback(
    (problem: Problem) => {
      // Every service knows UTC: what is refused then is still the zone before.
      if (timeZone !== UTC) {
        setRefused(({ names }) => ({ names: [...names, timeZone], problem }));
      }
    },
    [timeZone],
  );
  return { timeZone, choices, problem: refused.problem, refuse };
}
