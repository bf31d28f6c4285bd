/**
 * A ledger as plain rows, which the tests generate, store and add up. Instants are ISO 8601
 * in UTC with milliseconds (`2026-11-20T09:30:00.000Z`), so that they compare as strings;
 * money is in cents, hourly prices are in ten-thousandths of a dollar.
 */

export interface Server {
  readonly id: bigint;
  readonly uuid: string;
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly price: bigint;
  readonly deletedAt: string | null;
}

export interface Instance {
  readonly id: bigint;
  readonly server: bigint;
  readonly publicId: string;
  readonly name: string;
  readonly deletedAt: string | null;
}

export interface Rental {
  readonly server: bigint;
  readonly instance: bigint | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface Charge {
  readonly server: bigint;
  readonly instance: bigint | null;
  readonly at: string;
  readonly gross: bigint;
}

export interface Payout {
  readonly id: bigint;
  readonly publicId: string;
  readonly paidAt: string;
  readonly amount: bigint;
  readonly method: string;
  readonly status: string;
}

/** All rows of one provider. */
export interface Ledger {
  readonly provider: bigint;
  /** The provider's name; "" if the table of providers lacks it. */
  readonly name: string;
  /** The wallet's balance; null without a wallet. */
  readonly balance: bigint | null;
  readonly servers: readonly Server[];
  readonly instances: readonly Instance[];
  readonly rentals: readonly Rental[];
  readonly charges: readonly Charge[];
  readonly payouts: readonly Payout[];
}

/** A provider without rows. */
export function emptyLedger(provider: bigint): Ledger {
  return {
    provider,
    name: "",
    balance: null,
    servers: [],
    instances: [],
    rentals: [],
    charges: [],
    payouts: [],
  };
}
