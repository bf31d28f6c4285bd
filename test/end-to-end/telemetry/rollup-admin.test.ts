/** The admin port of `npm run rollup -- --watch`. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import {
  type RollupProcess,
  runRollup,
  startRollup,
} from "../../support/commands/rollup-process.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { poll, until } from "../../support/poll.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const LIMIT = 20_000;
const CHARGES = 500;

let database: TestDatabase;
let proxy: DatabaseProxy;
let command: RollupProcess;
let base: string;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await startDatabaseProxy(database.url);
  await addBulk(database.knex, [
    { provider: 1, servers: 2, instances: 2, charges: CHARGES, rentals: 5 },
  ]);
  vi.stubEnv("ADMIN_HOST", "127.0.0.2");
  command = startRollup(proxy.url, ...["--margin", "0", "--watch", "0.2", "--admin-port", "0"]);
  base = await poll(LIMIT, () =>
    command
      .lines()
      .map((line) => /^metrics and health on (http:\S+)$/.exec(line)?.[1])
      .find((url) => url !== undefined),
  );
});
afterAll(async () => {
  vi.unstubAllEnvs();
  command?.signal("SIGKILL");
  await command?.ended;
  await proxy?.close();
  await database?.drop();
});

const metrics = async () => parseExposition(await (await fetch(`${base}/metrics`)).text());
const readyz = async () => (await fetch(`${base}/readyz?verbose`)).status;
const passes = async (result: string) =>
  sumOf(await metrics(), "revenue_rollup_passes_total", { result });

it("listens on ADMIN_HOST", () => {
  expect(new URL(base).hostname).toBe("127.0.0.2");
});

it("its metrics are those of its passes", async () => {
  // A build may take several passes.
  await until(
    LIMIT,
    async () => sumOf(await metrics(), "revenue_rollup_charges_total") === CHARGES,
  );
  const built = await passes("ok");
  await until(LIMIT, async () => (await passes("ok")) >= built + 2);
  const families = await metrics();
  expect(sumOf(families, "revenue_rollup_charges_total")).toBe(CHARGES);
  expect(sumOf(families, "revenue_rollup_providers")).toBe(1);
  expect(sumOf(families, "revenue_rollup_providers_behind")).toBe(0);
  expect(sumOf(families, "revenue_rollup_repairs_total")).toBe(0);
  expect(families.get("revenue_rollup_watermark_lag_seconds")?.samples).toHaveLength(1);
  expect(sumOf(families, "revenue_rollup_pass_duration_seconds_count")).toBeGreaterThan(1);
  const succeeded = sumOf(families, "revenue_rollup_last_success_timestamp_seconds");
  expect(Math.abs(Date.now() / 1_000 - succeeded)).toBeLessThan(60);
  expect(await readyz()).toBe(200);
});

it("without its database it is alive, not ready, and counts its failures", async () => {
  proxy.route(database.url.replace(/:\d+\//, ":1/"));
  const [connections] = await database.knex.raw(
    "SELECT id FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()",
    [database.name],
  );
  for (const { id } of connections) await database.knex.raw("KILL ?", [id]).catch(() => {});
  await until(LIMIT, async () => (await readyz()) === 503);
  await until(LIMIT, async () => (await passes("failed")) > 0);
  expect((await fetch(`${base}/livez`)).status).toBe(200);
  proxy.route(database.url);
  await until(LIMIT, async () => (await readyz()) === 200);
});

it("it stops at SIGTERM as without the port", async () => {
  command.signal("SIGTERM");
  expect(await command.ended).toMatchObject({ code: 0, signal: null });
});

it("a port that is none is a usage error", async () => {
  const { code, stderr } = await runRollup(database.url, "--admin-port", "70000");
  expect(code).toBe(1);
  expect(stderr).toContain("Expected a port; 0 picks a free one.");
});
