/** The shop of `examples/adopt` in databases of the calling test file: tier 0 beside tier 1, and what its orders count. */
import { randomBytes } from "node:crypto";
import type { Connection } from "mysql2/promise";
import { afterAll, afterEach, inject } from "vitest";
import { connectTo, createDatabase } from "../../support/database.ts";
import { rootFile } from "../markdown.ts";
import { createTerminal } from "./client.ts";

/** Money by provider and server, in cents; owners of nothing are left out. */
export type Money = Readonly<Record<string, string>>;

/** A table of the shop that charges are made of. */
export interface Source {
  readonly table: string;
  /** Reads examples/adopt/shop/triggers.sql, for this table. */
  follow(): Promise<void>;
  /** Drops the triggers. */
  leave(): Promise<void>;
  /** Runs the copy, on a connection of its own. Resolves to the number of charges that it wrote. */
  copy(): Promise<number>;
  /** What the rows count now, added up here; tier 0 says it, too, of the shop's orders. */
  owed(): Promise<Money>;
  /** What tier 1 has booked of them. */
  booked(): Promise<Money>;
}

const EXAMPLE = "examples/adopt/shop";
/** docs/adopt.md, "A second table": what another table, and a column that is a timestamp, change in these files. */
const INSTANT = "TIMESTAMP'1970-01-01 00:00:00' + INTERVAL UNIX_TIMESTAMP(paid_at) SECOND";

/** Creates it, with no order yet, and without what tier 1 adds. */
export async function shopOfFile() {
  const shop = `shop_${randomBytes(6).toString("hex")}`;
  const views = `views_${shop}`;
  const tables = await createDatabase();
  const server = inject("databaseServer");
  const terminal = createTerminal(server);
  const connections: Connection[] = [];
  // What a test that failed has open would stop the next one.
  afterEach(() => connections.splice(1).forEach((connection) => void connection.destroy()));
  const connect = async (): Promise<Connection> => {
    const connection = await connectTo(server, { multipleStatements: true, dateStrings: true });
    connections.push(connection);
    return connection;
  };
  const owner = await connect();
  /** SQL of the page or an example, about the databases of this file. */
  const named = (sql: string) =>
    sql.replaceAll(/\bshop\b/g, shop).replaceAll("revenue_tables", tables.name);
  const example = (name: string) => named(rootFile(`${EXAMPLE}/${name}.sql`));
  afterAll(async () => {
    for (const name of [shop, views]) await owner.query(`DROP DATABASE ${name}`);
    await owner.end();
    await tables.drop();
    terminal.remove();
  });

  await terminal.read(example("ledger"));
  await owner.query(`CREATE DATABASE ${views}; DELETE FROM ${shop}.orders`);
  await terminal.read(example("ledger-views"), views);
  await owner.query(`CREATE INDEX charges_by_source ON ${tables.name}.charges (rental_id)`);
  await owner.query(`CREATE TABLE ${shop}.extras LIKE ${shop}.orders;
    ALTER TABLE ${shop}.extras MODIFY paid_at timestamp(3) NULL`);

  const moneyOf = async (sql: string): Promise<Money> => {
    const [rows] = await owner.query<never[]>(
      `SELECT provider_id AS p, server_id AS s, CAST(SUM(gross) * 100 AS SIGNED) AS cents ${sql} GROUP BY p, s HAVING cents <> 0`,
    );
    const entries = (rows as { p: string; s: string; cents: string }[]).map(
      ({ p, s, cents }) => [`${p} ${s}`, String(cents)] as const,
    );
    return Object.fromEntries(entries);
  };

  const sourceOf = async (number: number, name: string): Promise<Source> => {
    const table = `${shop}.${name}`;
    const forTable = (sql: string) =>
      number === 0
        ? sql
        : sql
            .replaceAll(`${shop}.orders`, table)
            .replaceAll("charge_", "extra_")
            .replaceAll("copy_orders", "copy_extras")
            .replaceAll(".id * 10 + 0", `.id * 10 + ${number}`)
            .replace("this_source INT DEFAULT 0", `this_source INT DEFAULT ${number}`)
            .replace("(0, '", `(${number}, '`)
            .replace("paid_at AS charged_at", `${INSTANT} AS charged_at`)
            .replaceAll(
              /NEW\.paid_at(?=, is_now|, UTC)/g,
              INSTANT.replace("paid_at", "NEW.paid_at"),
            );
    await terminal.read(forTable(example("copy")), tables.name);
    return {
      table,
      follow: () => terminal.read(forTable(example("triggers"))),
      async leave() {
        for (const trigger of ["new", "changed", "gone"]) {
          await owner.query(`DROP TRIGGER IF EXISTS ${forTable(`${shop}.charge_${trigger}`)}`);
        }
      },
      async copy() {
        const copier = await connectTo(server);
        const [results] = await copier.query<never[]>(`CALL ${tables.name}.copy_${name}(0)`);
        await copier.end();
        const [[row]] = results as unknown as [[{ charges: number }]];
        return row.charges;
      },
      async owed() {
        const [rows] = await owner.query<never[]>(`SELECT * FROM ${table}`);
        const sums = new Map<string, bigint>();
        for (const order of rows as Order[]) {
          const isPaid = order.status === "paid" && order.removed_at === null;
          if (!isPaid || order.paid_at === null) continue;
          const key = `${order.merchant_id} ${order.machine_id}`;
          const cents = BigInt(order.total_cents) - BigInt(order.refunded_cents);
          sums.set(key, (sums.get(key) ?? 0n) + cents);
        }
        const entries = [...sums].filter(([, cents]) => cents !== 0n);
        return Object.fromEntries(entries.map(([key, cents]) => [key, String(cents)]));
      },
      booked: () => moneyOf(`FROM ${tables.name}.charges WHERE rental_id % 10 = ${number}`),
    };
  };
  return {
    connect,
    owner,
    named,
    tables: tables.name,
    /** What tier 0 says of the shop's orders. */
    viewed: () => moneyOf(`FROM ${views}.charges`),
    /** The shop's orders, and another table of the same form, whose time is a timestamp. */
    sources: [await sourceOf(0, "orders"), await sourceOf(1, "extras")] as const,
  };
}

interface Order {
  readonly status: string;
  readonly merchant_id: number;
  readonly machine_id: number;
  readonly total_cents: number;
  readonly refunded_cents: number;
  readonly paid_at: string | null;
  readonly removed_at: string | null;
}
