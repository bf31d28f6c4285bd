/** Where an RPC's figures come from. */
import type { Read } from "../db/query.ts";
import type { TotalsCache } from "../rollup/read/cache.ts";
import type { ReportLag } from "../rollup/read/lag-log.ts";

export interface Source<Part> {
  /** The database. */
  readonly read: Read;
  /** What was read of the rollups. */
  readonly cache: TotalsCache<Part>;
  /** Is told which rollup each answer saw. */
  readonly reportLag: ReportLag;
}
