/**
 * `examples/adopt/compare.ts` on the ledgers of `examples/adopt`: it says that answers and ledgers are the same, and
 * each difference that is planted, by provider, month and figure.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startPrivateDatabase } from "../../dev/private-database/private-database.ts";
import { issueServiceKey } from "../../src/auth/key-registry.ts";
import { formatCents } from "../../src/db/cents.ts";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { connectTo, testPool } from "../support/database.ts";
import { type ServiceProcess, startService } from "../support/service/service-process.ts";
import { paste } from "./commands/terminal.ts";
import { rootFile } from "./markdown.ts";

const server = await startPrivateDatabase({ bufferPool: "64M", timeZone: "-05:00" });
const owner = await connectTo(server.url, { multipleStatements: true });
const folder = mkdtempSync(join(tmpdir(), "adopt-compare-"));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await owner.end();
  await server.stop();
});

/** A ledger, what adopts it, and a charge at the edge of January and February of its first provider. */
const LEDGERS = {
  shop: {
    files: ["views.sql", "ledger-views.sql"],
    edge: `INSERT INTO shop.orders SET merchant_id = 1, machine_id = 1, status = 'paid', total_cents = 100,
      booked_from = '2026-01-31 20:00:00', paid_at = '2026-01-31 23:30:00'`,
    /** What it says of the first provider in January, and of the second, in cents. */
    january: { gross: 15_444, refunds: -500, charges: 5 },
    others: { gross: 700, refunds: 0, charges: 1 },
    /** What its amounts have after the cents. */
    more: "",
  },
  depot: {
    files: ["views.sql"],
    edge: `INSERT INTO depot.entries VALUES (UNHEX('EE000000000000000000000000000009'),
      UNHEX('AA000000000000000000000000000001'), UNHEX('DD000000000000000000000000000001'), 1, '2026-01-31 23:30:00')`,
    january: { gross: 1_050, refunds: -75, charges: 3 },
    others: { gross: 300, refunds: 0, charges: 1 },
    more: "00",
  },
} as const;

describe.each(Object.entries(LEDGERS))("%s", (ledger, { files, edge, january, others, more }) => {
  const database = `compared_${ledger}`;
  const url = Object.assign(new URL(server.url), { pathname: `/${database}` }).href;
  const query = rootFile(`examples/adopt/${ledger}/compare.sql`);
  let service: ServiceProcess;
  let key: string;
  beforeAll(async () => {
    await owner.query(rootFile(`examples/adopt/${ledger}/ledger.sql`));
    await owner.query(`SET time_zone = '+00:00'; ${edge}`);
    await owner.query(`CREATE DATABASE ${database} COLLATE utf8mb4_bin; USE ${database}`);
    for (const file of files) await owner.query(rootFile(`examples/adopt/${ledger}/${file}`));
    await owner.query("RENAME TABLE charges TO right_charges, providers TO right_providers");
    await right();
    const pool = testPool(url);
    await migrateToLatest(pool);
    ({ key } = await issueServiceKey(pool, "compare", null));
    await pool.destroy();
    service = await startService(url);
  });
  afterAll(() => service?.kill());

  const books = `(${query.replace(/;\s*$/, "")}) AS books`;

  /** Makes views of charges and providers anew. */
  const view = (name: string, sql: string) =>
    owner.query(`CREATE OR REPLACE VIEW ${database}.${name} AS ${sql}`);
  async function right(): Promise<void> {
    await view("charges", `SELECT * FROM ${database}.right_charges`);
    await view("providers", `SELECT * FROM ${database}.right_providers`);
  }

  async function compare(sql = query, months = "2026-01 2026-03") {
    const file = join(mkdtempSync(join(folder, ledger)), "query.sql");
    writeFileSync(file, sql);
    return paste(`npx node examples/adopt/compare.ts ${file} ${months}`, {
      LEDGER_URL: server.url,
      REVENUE_GRPC: service.grpc,
      REVENUE_SERVICE_KEY: key,
    });
  }

  it("what is the same ends with 0", async () => {
    expect(await compare()).toEqual({
      code: 0,
      stdout: "months compared: 3, differences: 0\n",
      stderr: "",
    });
  });

  const columns = "id, provider_id, server_id, instance_id, recorded_at, public_id";
  const charges = (charged_at: string, gross: string, where = "1") =>
    `SELECT ${columns}, ${charged_at} AS charged_at, CAST(${gross} AS DECIMAL(14,2)) AS gross
     FROM ${database}.right_charges WHERE ${where}`;
  const all = charges("charged_at", "gross");
  const ofOther = charges("charged_at", "gross", "provider_id = 2");

  /** A line of what differs: figures of the ledger, and of the service. */
  type Figures = Partial<Record<keyof typeof january, number>>;
  const line = (month: string, provider: string, ours: Figures, theirs: Figures) => {
    const text = (name: keyof Figures, value: number | undefined) => {
      if (value === undefined) return "0";
      return name === "charges" ? `${value}` : formatCents(BigInt(value));
    };
    const figures = (Object.keys(theirs) as (keyof Figures)[]).map((name) => {
      const after = name === "charges" || ours[name] === undefined ? "" : more;
      return `${name}: your tables ${text(name, ours[name])}${after}, the service ${text(name, theirs[name])}`;
    });
    return `${month} provider ${provider}: ${figures.join("; ")}`;
  };
  const { gross, refunds, charges: count } = january;

  it.each([
    [
      "a charge that is missing",
      charges("charged_at", "gross", "provider_id <> 2"),
      [line("2026-01", "2", others, { gross: 0, charges: 0 })],
    ],
    [
      "a charge that is there twice",
      `${all} UNION ALL ${ofOther}`,
      [line("2026-01", "2", others, { gross: others.gross * 2, charges: 2 })],
    ],
    [
      "an amount that is off by a cent",
      charges("charged_at", "gross + IF(provider_id = 2, 0.01, 0)"),
      [line("2026-01", "2", others, { gross: others.gross + 1 })],
    ],
    [
      "refunds with the wrong sign",
      charges("charged_at", "ABS(gross)"),
      [line("2026-01", "1", january, { gross: gross - 2 * refunds, refunds: 0 })],
    ],
    [
      "a local time at the edge of a month",
      charges("CAST(charged_at + INTERVAL 1 HOUR AS DATETIME(3))", "gross"),
      [
        line("2026-01", "1", january, { gross: gross - 100, charges: count - 1 }),
        line("2026-02", "1", {}, { gross: 100, charges: 1 }),
      ],
    ],
  ])("%s", async (_, sql, lines) => {
    await view("charges", sql);
    onTestFinished(right);
    expect(await compare()).toEqual({
      code: 1,
      stdout: `${lines.join("\n")}\nmonths compared: 3, differences: ${lines.length}\n`,
      stderr: "",
    });
  });

  it("a provider that only one side has", async () => {
    await view("providers", `SELECT * FROM ${database}.right_providers WHERE id <> 2`);
    const unknown = line("2026-01", "2 (the service has no such provider)", others, {
      gross: 0,
      charges: 0,
    }).replace("the service 0.00", "the service 0");
    expect((await compare()).stdout).toContain(`${unknown}\nmonths compared: 3, differences: 1\n`);
    await right();
    const ours = `SELECT * FROM ${books} WHERE provider <> 2`;
    expect(await compare(ours)).toMatchObject({
      code: 1,
      stdout: `${line("2026-01", "2", {}, { gross: others.gross, charges: 1 })}\nmonths compared: 3, differences: 1\n`,
    });
  });

  it("months as one, and of the figures those that the query has", async () => {
    const gross = `SELECT provider, gross FROM ${books}`;
    const same = { code: 0, stdout: "months compared: 1, differences: 0\n", stderr: "" };
    expect(await compare(gross, "2026-01/2026-03")).toEqual(same);
    await view("charges", charges("charged_at", "gross", "provider_id <> 2"));
    onTestFinished(right);
    const different = line("2026-01/2026-03", "2", others, { gross: 0 });
    expect((await compare(gross, "2026-01/2026-03")).stdout).toContain(`${different}\n`);
  });

  if (ledger === "depot") return;
  it("payouts, balances and hours", async () => {
    const queries = {
      payouts: `SELECT merchant_id AS provider, SUM(IF(state = 'sent', cents, 0)) * 0.01 AS completed_payouts,
        SUM(IF(state = 'sent', 0, cents)) * 0.01 AS other_payouts FROM shop.settlements
        WHERE sent_at >= @start AND sent_at < @end GROUP BY provider`,
      wallets: "SELECT id AS provider, balance_cents * 0.01 AS balance FROM shop.merchants",
      rentals: `SELECT merchant_id AS provider,
        ROUND(SUM(TIMESTAMPDIFF(SECOND, booked_from, booked_until)) / 3600, 2) AS rented_hours
        FROM shop.orders WHERE status = 'paid' AND total_cents >= 0 AND booked_until IS NOT NULL
          AND booked_from >= @start AND booked_from < @end GROUP BY provider`,
    };
    // A rental without an end runs on.
    await owner.query(
      "UPDATE shop.orders SET booked_until = '2026-01-31 21:00:00' WHERE booked_until IS NULL",
    );
    for (const sql of Object.values(queries)) {
      expect(await compare(sql)).toMatchObject({ code: 0, stderr: "" });
    }
    const mistakes = [
      [
        "payouts",
        "amount",
        "amount * 100",
        "completed_payouts: your tables 100.00, the service 10000.00",
      ],
      [
        "payouts",
        "status",
        "LOWER(status)",
        "completed_payouts: your tables 100.00, the service 0.00; other_payouts: your tables 0.00, the service 100.00",
      ],
      [
        "wallets",
        "available_balance",
        "available_balance - 0.01",
        "balance: your tables 1200.50, the service 1200.49",
      ],
      [
        "rentals",
        "ended_at",
        "ended_at + INTERVAL 36 SECOND",
        "rented_hours: your tables 28.00, the service 28.04",
      ],
    ] as const;
    for (const [table, column, wrong, line] of mistakes) {
      const right = `${database}.right_${table}`;
      await owner.query(`RENAME TABLE ${database}.${table} TO ${right}`);
      const [rows] = await owner.query<never[]>(`SHOW COLUMNS FROM ${right}`);
      const columns = (rows as { Field: string }[]).map(({ Field }) =>
        Field === column ? `${wrong} AS ${column}` : Field,
      );
      await view(table, `SELECT ${columns.join(", ")} FROM ${right}`);
      const { code, stdout } = await compare(queries[table]);
      expect({ code, stdout }).toEqual({
        code: 1,
        stdout: expect.stringContaining(`2026-01 provider 1: ${line}\n`),
      });
      await owner.query(`DROP VIEW ${database}.${table}`);
      await owner.query(`RENAME TABLE ${right} TO ${database}.${table}`);
    }
  });

  it("what cannot be compared ends with 1, too", async () => {
    const refusals = {
      "provider, gross AS gros":
        "there is no figure gros: there are gross, refunds, charges, completed_payouts, other_payouts, balance, rented_hours",
      "provider, month": "the query has no figure to compare",
      "provider, month, gross + 0e0 AS gross, refunds, charges":
        "gross is a floating point number, which is not exact: CAST it to a DECIMAL",
      "1 AS provider, month, gross, refunds, charges": "provider 1 has two rows of 2026-01",
      "provider, '2026-02' AS month, gross, refunds, charges":
        "provider 1 has a row of month 2026-02 from 2026-01-01 on and before 2026-02-01",
      "provider, month, NULL AS gross, refunds, charges": "expected a decimal number, got null",
    };
    await Promise.all(
      Object.entries(refusals).map(async ([select, stderr]) => {
        const result = await compare(`SELECT ${select} FROM ${books}`);
        expect(result).toEqual({ code: 1, stdout: "", stderr: `${stderr}\n` });
      }),
    );
    expect(await compare(query, "2025-01 2025-02")).toMatchObject({
      code: 1,
      stderr: "nothing was compared: the service has no charge in these months\n",
    });
  });
});
