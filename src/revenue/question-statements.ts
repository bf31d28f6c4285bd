/** The statements of a question: one for each way in which it is answered. */
import { compileStatement, type Queries, type Statement } from "../db/statement.ts";

/** Queries by name. The first one of `raw` and of `completing` has one row. */
interface Parts<Raw, Completing, Stored, Others> {
  /** They read the ledger alone. */
  readonly raw: Raw;
  /** They complete the sums of a rollup. */
  readonly completing: Completing;
  /** They read these sums. */
  readonly stored: Stored;
  /** They are part of each statement. */
  readonly others: Others;
}

/**
 * Compiles the statements that read the ledger alone, complete the sums that they read, and complete those of the
 * cache. All have the same rows: none of a query that a statement leaves out.
 */
export function compileQuestion<
  Raw extends Queries,
  Completing extends Queries,
  Stored extends Queries,
  Others extends Queries,
>({ raw, completing, stored, others }: Parts<Raw, Completing, Stored, Others>, operation: string) {
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
