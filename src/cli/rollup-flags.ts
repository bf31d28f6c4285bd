/** The flags of `npm run rollup` that variables set too, and how their values are parsed. */
import { InvalidArgumentError, Option } from "commander";
import { unsetIfEmpty } from "./run.ts";

/**
 * An option that a variable sets too: `--check-period <seconds>` is `ROLLUP_CHECK_PERIOD_SECONDS`. The
 * option wins. An empty variable counts as unset.
 */
export function setting(flags: string, description: string): Option {
  const [, name = "", unit = ""] = /^--(\S+) <(\w+)>$/.exec(flags) ?? [];
  const words = ["rollup", ...name.split("-"), ...(unit === "seconds" ? [unit] : [])];
  const variable = words.join("_").toUpperCase();
  unsetIfEmpty(variable);
  return new Option(flags, description).env(variable);
}

/** A number of seconds. */
export function toSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a number of seconds, such as 60.");
}

/** A number of seconds that is not 0. */
export function toPause(text: string): number {
  if (toSeconds(text) > 0) return Number(text);
  throw new InvalidArgumentError("Expected more than 0 seconds.");
}

/** A port; 0 picks a free one. */
export function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("Expected a port; 0 picks a free one.");
}

/** A whole number from 1 to 99. */
export function toCount(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number from 1 to 99.");
}
