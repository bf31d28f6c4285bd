/** A `Read` that records which statements of the revenue service ran. */
import { STATEMENT_NAMES, STATEMENTS, type StatementName } from "../../dev/statements.ts";
import type { Query, Read } from "../../src/db/query.ts";

export { STATEMENT_NAMES, STATEMENTS, type StatementName } from "../../dev/statements.ts";

/** A statement that ran. */
export interface Ran {
  readonly name: StatementName;
  readonly bindings: readonly string[];
}

/** A `Read` that records the statements it runs. */
export interface RecordingRead {
  readonly read: Read;
  /** Returns those that ran since the previous call. */
  take(): Ran[];
  /** Returns their names. Facts that were long under way, as on a busy machine, are asked for twice: they count once. */
  takeNames(): StatementName[];
}

/** Wraps a `Read` so that it records the statements it runs. It throws on any other statement. */
export function recordStatements(read: Read): RecordingRead {
  const ran: Ran[] = [];
  const take = () => ran.splice(0);
  return {
    read: (work, options) =>
      read((session) => {
        const query: Query = (sql, bindings, operation) => {
          const name = STATEMENT_NAMES.find((name) => STATEMENTS[name].sql === sql);
          if (name === undefined) throw new Error(`not a statement of the service: ${sql}`);
          ran.push({ name, bindings });
          return session.query(sql, bindings, operation);
        };
        return work({ ...session, query });
      }, options),
    take,
    takeNames: () => {
      const names = take().map(({ name }) => name);
      return names.filter((name, nth) => name !== "facts" || names[nth + 1] !== "facts");
    },
  };
}
