/**
 * An answer that reads sums of parts, owners, days or hours, also reads what they must be together. A run
 * writes both in one transaction. If they differ, rows of the rollup were changed or lost: then nothing of it is used,
 * and the answer is read from the ledger.
 */
import type { Logger } from "pino";
import { ServiceError } from "../../errors.ts";
import { createSampledLog } from "../../telemetry/sampled-log.ts";
import { formatSums, isZero, minus, type Sums } from "../sums.ts";

/** Sums that must be the same. */
export interface ComparedSums {
  /** What of: the owners at a boundary, as DATETIME(3) text, or at "W"; "days", "months"; the start of a day, of six hours or of an hour. */
  readonly at: string;
  /** The sums of all parts, added up. */
  readonly parts: Sums;
  /** Those of the whole. */
  readonly total: Sums;
}

/** Sums that an answer has read differ. */
export class DamagedRollup extends Error {
  override readonly name = "DamagedRollup";

  /** Where, and by what. */
  readonly damage: ComparedSums;

  constructor(damage: ComparedSums) {
    super("the rollup is damaged");
    this.damage = damage;
  }
}

/** @throws DamagedRollup at the first sums that differ */
export function compareSums(compared: readonly ComparedSums[]): void {
  const damage = compared.find(({ parts, total }) => !isZero(minus(parts, total)));
  if (damage !== undefined) throw new DamagedRollup(damage);
}

/** Reports a rollup that is damaged. */
export type ReportDamage = (provider: string, damage: ComparedSums) => void;

/** So many covered charges are read for an answer at most. */
const MAX_CHARGES = 1_000_000n;

/**
 * Reads an answer from the ledger because the rollup is damaged: one at a time for a provider. Rejects with a
 * `ServiceError`: `databaseUnavailable` if there are too many charges, otherwise as `read` does.
 */
export type ReadLedger = <T>(
  provider: string,
  damage: ComparedSums,
  read: () => Promise<T>,
) => Promise<T>;

/** Creates the turns of providers. `report` is called once for each answer. */
export function createLedgerReads(report: ReportDamage, maxCharges = MAX_CHARGES): ReadLedger {
  const latest = new Map<string, Promise<unknown>>();
  return async (provider, damage, read) => {
    report(provider, damage);
    const { parts, total } = damage;
    if (parts.charges > maxCharges || total.charges > maxCharges) {
      const cause = new Error("the rollup is damaged, and the ledger too large to do without");
      throw new ServiceError("databaseUnavailable", undefined, { cause });
    }
    const turn = Promise.resolve(latest.get(provider)).then(read, read);
    latest.set(provider, turn);
    try {
      return await turn;
    } finally {
      if (latest.get(provider) === turn) latest.delete(provider);
    }
  };
}

/** Creates a `ReportDamage` that logs, sampled, and counts. */
export function createDamageLog(log: Logger, count: () => void = () => {}): ReportDamage {
  const sampled = createSampledLog(log);
  return (providerId, { at, parts, total }) => {
    count();
    const fields = { providerId, at, parts: formatSums(parts), total: formatSums(total) };
    sampled.error(fields, "rollup is damaged and not used");
  };
}
