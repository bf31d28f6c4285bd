/** The statements of a question: one for each way in which it is answered. */
import { compileStatement, type Queries, type Statement } from "../db/statement.ts";

/**
 * Compiles the statements that read the ledger alone, complete the sums that they read, and complete those of the
 * cache. All have the same rows: none of a query that a statement leaves out. The first query of `raw` and of
 * `completing` has one row.
 */
export function compileQuestion<
  Raw extends Queries,
  Completing extends Queries,
  Stored extends Queries,
  Others extends Queries,
>(parts: { raw: Raw; completing: Completing; stored: Stored; others: Others }, operation: string) {
  const { raw, completing, stored, others } = parts;
  const names = Object.keys({ ...raw, ...completing, ...others, ...stored });
  const none = Object.fromEntries(names.map((name) => [name, undefined]));
  const compile = (queries: Queries, operation: string) =>
    compileStatement({ ...none, ...queries }, operation) as Statement<
      Raw & Completing & Stored & Others
    >;
  return {
    raw: compile({ ...raw, ...others }, `${operation}_raw`),
    full: compile({ ...completing, ...others, ...stored }, operation),
    cached: compile({ ...completing, ...others }, operation),
  };
}
