/** The database is replaced by a backup of itself while the service runs, on the same address. */
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import {
  createPrivateFixture,
  type PrivateFixture,
} from "../../support/service/private-fixture.ts";

let fixture: PrivateFixture;
beforeAll(async () => {
  fixture = await createPrivateFixture();
});
afterAll(() => fixture.dispose());

const YEAR = { startDate: "2024-01-01", endDate: "2024-12-31" };

/** Inserts a charge of 2024, and rolls it up. */
async function chargeAndRollUp(gross: string): Promise<void> {
  const knex = createPool(parseDatabaseUrl(fixture.server.url));
  try {
    const charged = { provider_id: 1, server_id: 1, charged_at: "2024-05-05 12:00:00.000" };
    await knex("charges").insert({ ...charged, gross, recorded_at: "2024-05-05 12:00:00.000" });
    await rollUp(knex, { margin: 0, rebuild: true });
  } finally {
    await knex.destroy();
  }
}

/** The gross of 2024. Asked for twice, so that the second answer has cached sums. */
async function grossOf2024(): Promise<string> {
  const request = {
    method: "GetServerBreakdown",
    message: YEAR,
    headers: withKey(fixture.key),
  } as const;
  const answers: JsonObject[] = [];
  // The service may not have connections to the restarted server yet.
  await until(20_000, async () => {
    const outcome = await fixture.clients.get("REST").call(request);
    if ("response" in outcome) answers.push(outcome.response as JsonObject);
    return answers.length === 2;
  });
  const [first, second] = answers;
  expect(second).toEqual(first);
  return (second as { totalRevenue: { value: string } }).totalRevenue.value;
}

it("answers are those of the restored history, and not of cached sums of the lost one", async () => {
  const { server } = fixture;
  const [data, backup] = [join(server.folder, "data"), join(server.folder, "backup")];
  await chargeAndRollUp("100.00");
  const before = await grossOf2024();
  await server.kill();
  await cp(data, backup, { recursive: true });
  await server.start();

  await chargeAndRollUp("20.00");
  expect(Number(await grossOf2024())).toBe(Number(before) + 20);

  await server.kill();
  await rm(data, { recursive: true });
  await cp(backup, data, { recursive: true });
  await server.start();
  expect(await grossOf2024()).toBe(before);

  await chargeAndRollUp("3.00");
  expect(Number(await grossOf2024())).toBe(Number(before) + 3);
});
