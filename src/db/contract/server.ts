/**
 * Defaults of a server for tables and writes with which this program cannot work. What a statement can state, it
 * states (session-variables.ts, the migrations); docs/adopt.md lists what is harmless.
 */
import type { Knex } from "knex";
import { type Finding, problem } from "./ledger.ts";

/** The variables of a server, by name in lower case. */
type Variables = ReadonlyMap<string, string>;

const isOn = (value: string | undefined) => value === "ON" || value === "1";

/** A default that is refused, and the reason, for whoever sets it right. */
interface Default {
  readonly name: string;
  readonly isRefused: (value: string, all: Variables) => boolean;
  readonly reason: string;
}

const ROLLUP_WRITES =
  "`npm run rollup` writes as READ COMMITTED, which InnoDB does not log as statements";

/** What is refused. Both engines' variables; one that a server lacks is not. */
const DEFAULTS: readonly Default[] = [
  {
    name: "binlog_format",
    isRefused: (value, all) => value === "STATEMENT" && isOn(all.get("log_bin")),
    reason: `it must be ROW or MIXED: ${ROLLUP_WRITES}`,
  },
  {
    name: "wsrep_forced_binlog_format",
    isRefused: (value) => value === "STATEMENT",
    reason: `it must be NONE: ${ROLLUP_WRITES}`,
  },
  {
    name: "wsrep_osu_method",
    isRefused: (value) => value === "RSU",
    reason: "it must be TOI: `npm run migrate` would change the schema of one node alone",
  },
  {
    name: "wsrep_on",
    isRefused: (value, all) => !isOn(value) && !/^(|none)$/.test(all.get("wsrep_provider") ?? ""),
    reason: "it must be ON: what is written would stay on one node",
  },
  {
    name: "alter_algorithm",
    isRefused: (value) => /^(INSTANT|NOCOPY|INPLACE)$/.test(value),
    reason: "it must be DEFAULT or COPY: `npm run migrate` could not change a column",
  },
];

/** The names of those that may be refused. */
export const REFUSED_DEFAULTS = DEFAULTS.map(({ name }) => name);

/** Other variables that the rules read. */
const ALSO = ["log_bin", "wsrep_provider"];

/** The defaults of the server that are refused. */
export async function checkServer(database: Knex): Promise<Finding[]> {
  const names = [...REFUSED_DEFAULTS, ...ALSO];
  const [rows] = await database.raw(
    `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names.map(() => "?").join(", ")})`,
    names,
  );
  const all: Variables = new Map(
    (rows as { Variable_name: string; Value: string }[]).map(
      ({ Variable_name: name, Value: value }) => [name.toLowerCase(), value],
    ),
  );
  return DEFAULTS.flatMap(({ name, isRefused, reason }) => {
    const value = all.get(name);
    return value !== undefined && isRefused(value, all)
      ? [problem(`the server's ${name} is ${value}: ${reason}`)]
      : [];
  });
}
