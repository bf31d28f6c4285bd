/**
 * SQL for the stored sums of the rollup in the facts. *F* at a boundary is that of the last stored boundary up to it:
 * behind a boundary that is not stored there is nothing covered. Each sub-select reads one entry of the index.
 */
import { instant } from "../../db/sql-time.ts";
import { TABLES } from "../coverage.ts";
import { LENGTHS } from "../increments.ts";
import { FORMAT } from "../sums.ts";

const rows = (table: string) =>
  `${table} WHERE provider_id = :provider AND format = ${FORMAT} AND slot = :slot`;

/** What follows FROM for the sums of the provider's owners, and of the provider as a whole. */
export const OWNER_SUMS = `${rows(TABLES.sums)} AND total = 0`;
const TOTAL_SUMS = `${rows(TABLES.sums)} AND total = 1`;
/** The same of its increments of a length: those of hours without a condition on their parts. */
export const increments = (length: keyof typeof LENGTHS): string =>
  `${rows(TABLES.increments)} AND length = ${LENGTHS[length]}${length === "hour" ? "" : " AND part = 0"}`;

/** The rows of either that have the sums at a boundary, a parameter; none if nothing is covered before. */
export const sumsAt = (of: string, boundary: string): string =>
  `${of} AND at = (SELECT MAX(at) FROM ${of} AND at <= ${instant(boundary)})`;

/** The row of the provider as a whole that has them; not one of an owner that was changed into one of it. */
export const totalAt = (boundary: string): string =>
  `${sumsAt(TOTAL_SUMS, boundary)} AND server_id = 0 AND instance_id = 0`;
