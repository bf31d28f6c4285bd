/**
 * The contract with the platform's writers: the tables of the ledger, and the columns of them that this program
 * reads. `npm run migrate` makes the tables; a platform with a ledger of its own makes tables or views with these
 * columns itself (docs/adopt.md). A test holds it together with the migrations and with the statements.
 */

/** What the server says of a column, as in `information_schema.COLUMNS`. */
export interface StoredColumn {
  /** In lower case: a server takes `ID` for `id`. */
  readonly name: string;
  /** With its length, in lower case: `decimal(14,2)`. */
  readonly type: string;
  readonly isNullable: boolean;
  /** The collation of text. */
  readonly collation: string | null;
}

/** What a column must be. */
export interface Kind {
  /** The type in the tables that `npm run migrate` makes. */
  readonly type: string;
  /** What else is right, in words, for a message and the documentation. */
  readonly also?: string;
  /** How a view makes it of another type. */
  readonly cast?: string;
  readonly accepts: (type: string) => boolean;
  /** Whether it is compared byte by byte, so that its collation matters. */
  readonly isIdentifier?: true;
}

const matches = (pattern: RegExp) => (type: string) => pattern.test(type);
const isText = matches(/^((var)?char|(tiny|medium|long)?text|enum)\b/);

const ID: Kind = {
  type: "bigint unsigned",
  also: "any integer type without ZEROFILL, from 1",
  // With ZEROFILL the text of 7 is 0000000007, which is no other 7.
  accepts: matches(/^(tiny|small|medium|big)?int\b(?!.*zerofill)/),
};
/** Sums of a rollup have 18 digits before the point: no amount may have more. */
const MONEY: Kind = {
  type: "decimal(14,2)",
  also: "any decimal with two digits after the point, and 18 in all at most",
  cast: "CAST(… AS DECIMAL(14,2)), of whole cents CAST(… * 0.01 AS DECIMAL(14,2))",
  accepts: matches(/^decimal\((\d|1[0-8]),2\)/),
};
const PRICE: Kind = {
  type: "decimal(12,4)",
  also: "any decimal with four digits after the point",
  cast: "CAST(… AS DECIMAL(12,4))",
  accepts: matches(/^decimal\(\d+,4\)/),
};
const INSTANT: Kind = {
  type: "datetime(3)",
  cast: "CAST(… AS DATETIME(3))",
  accepts: matches(/^datetime\(3\)/),
};
const text = (length: number): Kind => ({
  type: `varchar(${length})`,
  also: "any text, in any character set",
  accepts: isText,
});
const identifier = (type: string): Kind => ({
  type,
  also: "any text whose collation ends in _bin",
  accepts: isText,
  isIdentifier: true,
});
const HASH: Kind = { type: "binary(32)", accepts: matches(/^binary\(32\)/) };

/** A column of the contract. */
export interface Column {
  readonly kind: Kind;
  /** Whether it may be NULL. */
  readonly nullable?: true;
}

/** A table of the contract. */
export interface LedgerTable {
  readonly columns: Readonly<Record<string, Column>>;
  /** Columns by which its rows are found: a key of a table must begin with them. */
  readonly lookup: readonly string[];
}

const is = (kind: Kind): Column => ({ kind });
const maybe = (kind: Kind): Column => ({ kind, nullable: true });

/** The tables of the ledger, by name. */
export const LEDGER: Readonly<Record<string, LedgerTable>> = {
  providers: { columns: { id: is(ID), name: is(text(255)) }, lookup: ["id"] },
  api_keys: {
    columns: {
      id: is(ID),
      provider_id: is(ID),
      name: is(text(255)),
      key_hash: is(HASH),
      hint: is(identifier("varchar(16)")),
      created_at: is(INSTANT),
      expires_at: maybe(INSTANT),
      revoked_at: maybe(INSTANT),
    },
    lookup: ["key_hash"],
  },
  wallets: {
    columns: { provider_id: is(ID), available_balance: is(MONEY) },
    lookup: ["provider_id"],
  },
  servers: {
    columns: {
      id: is(ID),
      provider_id: is(ID),
      uuid: is(identifier("char(36)")),
      name: is(text(255)),
      type: is(text(255)),
      status: is(text(32)),
      price_per_hour: is(PRICE),
      deleted_at: maybe(INSTANT),
    },
    lookup: ["provider_id"],
  },
  instances: {
    columns: {
      id: is(ID),
      provider_id: is(ID),
      server_id: is(ID),
      public_id: is(identifier("varchar(64)")),
      name: is(text(255)),
      deleted_at: maybe(INSTANT),
    },
    lookup: ["provider_id"],
  },
  rentals: {
    columns: {
      provider_id: is(ID),
      server_id: is(ID),
      instance_id: maybe(ID),
      started_at: is(INSTANT),
      ended_at: maybe(INSTANT),
      updated_at: is(INSTANT),
    },
    lookup: ["provider_id", "ended_at"],
  },
  charges: {
    columns: {
      id: is(ID),
      provider_id: is(ID),
      server_id: is(ID),
      instance_id: maybe(ID),
      charged_at: is(INSTANT),
      gross: is(MONEY),
      recorded_at: is(INSTANT),
      public_id: maybe(identifier("varchar(64)")),
    },
    lookup: ["provider_id", "charged_at"],
  },
  payouts: {
    columns: {
      id: is(ID),
      provider_id: is(ID),
      public_id: is(identifier("varchar(64)")),
      paid_at: is(INSTANT),
      amount: is(MONEY),
      method: is(text(64)),
      status: is(text(32)),
    },
    lookup: ["provider_id", "paid_at"],
  },
};
