/** The flags of `npm run rollup` that variables set too, and how their values are parsed. */
import { InvalidArgumentError, Option } from "commander";
import { CHECK_PERIOD, CONCURRENCY, MARGIN } from "../rollup/write/run.ts";
import { unsetIfEmpty } from "./run.ts";

/** A flag that a variable sets too. The flag wins. An empty variable counts as unset. */
interface Flag {
  /** The flag with its argument: `--margin <seconds>`. */
  readonly flag: string;
  /** The variable. */
  readonly name: string;
  /** The value without both of them; none by default. */
  readonly fallback?: number;
  /** Throws `InvalidArgumentError`. */
  readonly parse: (text: string) => number;
  /** What it means, in a line of Markdown. */
  readonly description: string;
}

/**
 * The flags. Each is written here once: `npm run generate` makes `.env.example` and the table in
 * docs/operations.md of them.
 */
export const ROLLUP_FLAGS: readonly Flag[] = [
  {
    flag: "--margin <seconds>",
    name: "ROLLUP_MARGIN_SECONDS",
    fallback: MARGIN / 1_000,
    parse: toMargin,
    description:
      "how far the watermark stays before the oldest that may still write, or before now; at least 1",
  },
  {
    flag: "--watch <seconds>",
    name: "ROLLUP_WATCH_SECONDS",
    parse: toPause,
    description: "repeat until SIGTERM, with this pause",
  },
  {
    flag: "--check-period <seconds>",
    name: "ROLLUP_CHECK_PERIOD_SECONDS",
    fallback: CHECK_PERIOD / 1_000,
    parse: toSeconds,
    description: "compare and repair every rollup in this time",
  },
  {
    flag: "--concurrency <number>",
    name: "ROLLUP_CONCURRENCY",
    fallback: CONCURRENCY,
    parse: toCount,
    description: "providers at once, from 1 to 99",
  },
  {
    flag: "--admin-port <port>",
    name: "ROLLUP_ADMIN_PORT",
    parse: toPort,
    description: "serve metrics and health here; 0 picks a free port",
  },
];

/** The option of a flag. */
export function optionOf({ flag, name, fallback, parse, description }: Flag): Option {
  unsetIfEmpty(name);
  return new Option(flag, description).env(name).argParser(parse).default(fallback);
}

/** A number of seconds. */
function toSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a number of seconds, such as 60.");
}

/**
 * A margin: a number of seconds, at least 1. A charge of the very moment in which the clock is read
 * commits a moment later, and InnoDB's list of transactions may be 0.1 s old.
 */
function toMargin(text: string): number {
  return Math.max(toSeconds(text), 1);
}

/** A number of seconds that is not 0. */
function toPause(text: string): number {
  if (toSeconds(text) > 0) return Number(text);
  throw new InvalidArgumentError("Expected more than 0 seconds.");
}

/** A port; 0 picks a free one. */
function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("Expected a port; 0 picks a free one.");
}

/** A whole number from 1 to 99. */
function toCount(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number from 1 to 99.");
}
