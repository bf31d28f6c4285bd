/**
 * The time zone of the page: that of the browser, or UTC. It is remembered if a person chose UTC; the
 * zone of the browser is not, because the next journey may lead to another one.
 */
import { useState } from "preact/hooks";
import type { Problem } from "../call/problem.ts";
import { UTC } from "../instant.ts";
import { storedItem } from "../stored-item.ts";

const item = storedItem("localStorage", "revenue-time-zone");

/** The zone, and what it can be. */
export interface Zone {
  readonly timeZone: string;
  /** The zones to choose from. */
  readonly choices: readonly string[];
  /** Why the zone of the browser is not among them. */
  readonly problem: Problem | undefined;
  choose(timeZone: string): void;
  /** Leaves the zone of the browser out. */
  refuse(problem: Problem): void;
}

/** The zone of the browser; UTC if it has none that it can show dates in. */
function browserZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
  } catch {
    return UTC;
  }
}

/** Keeps the zone. */
export function useZone(): Zone {
  const [own] = useState(browserZone);
  const [chosen, setChosen] = useState(() => item.read() ?? own);
  const [problem, setProblem] = useState<Problem>();
  const choose = (timeZone: string) => {
    if (timeZone === UTC) item.write(UTC);
    else item.remove();
    setChosen(timeZone);
  };
  const choices = problem || own === UTC ? [UTC] : [own, UTC];
  const timeZone = choices.includes(chosen) ? chosen : UTC;
  return { timeZone, choices, problem, choose, refuse: setProblem };
}
