/**
 * SQL for the stored sums of the rollup in the facts. *F* at a mark is that of the last stored boundary up to it:
 * behind a boundary that is not stored there is nothing covered. Each sub-select reads one entry of the index.
 */
import { instant } from "../../db/sql-time.ts";
import { TABLES } from "../coverage.ts";
import { FORMAT } from "../sums.ts";

const sums = (total: 0 | 1) =>
  `${TABLES.sums} WHERE provider_id = :provider AND format = ${FORMAT} AND slot = :slot AND total = ${total}`;

/** What follows FROM for the sums of the provider's owners, and of the provider as a whole. */
export const OWNER_SUMS = sums(0);
export const TOTAL_SUMS = sums(1);

/** The rows of either that have the sums at a mark, a parameter; none if nothing is covered before. */
export const sumsAt = (of: string, mark: string): string =>
  `${of} AND at = (SELECT MAX(at) FROM ${of} AND at <= ${instant(mark)})`;
