/** Runs on a real group of MySQL's Group Replication. MariaDB has none: its tests are reported as skipped. */

import type { Knex } from "knex";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PrivateDatabase } from "../../../../dev/private-database/private-database.ts";
import { findServerBinary } from "../../../../dev/private-database/server-binary.ts";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { migrateToLatest } from "../../../../src/db/migrate.ts";
import { readClock } from "../../../../src/rollup/write/run/clock.ts";
import { createRollupPool } from "../../../../src/rollup/write/run/pool.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { testPool } from "../../../support/database.ts";
import { until } from "../../../support/poll.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { deleteRows, LEDGER } from "../../file-database.ts";
import { startGroup } from "./replication-group.ts";

const { engine } = findServerBinary(console.error);
const CHARGE = { provider_id: 1, server_id: 1, charged_at: "2026-01-10", gross: "1.00" };
const OPTIONS = { margin: 0, seesTransactions: true };

describe.skipIf(engine !== "MySQL")(`in a group (this server is ${engine})`, () => {
  let members: readonly PrivateDatabase[] = [];
  let pools: readonly Knex[] = [];
  /** The writers' member, the same member and the other one as the command has them, and a session of that one. */
  let [writers, here, other, session] = [] as unknown as [Knex, Knex, Knex, Knex];
  beforeAll(async () => {
    members = await startGroup();
    const [first, second] = members.map(({ url }) => url) as [string, string];
    const warn = (message: string) => expect.unreachable(message);
    const command = (url: string) => createRollupPool(parseDatabaseUrl(url), 5, warn);
    writers = testPool(first);
    [here, other] = [command(first), command(second)];
    session = testPool(second, { maxConnections: 1 });
    pools = [writers, here, other, session];
    await migrateToLatest(writers);
    await writers("providers").insert({ id: 1, name: "provider" });
  });
  beforeEach(() => deleteRows(writers, LEDGER));
  afterAll(async () => {
    for (const pool of pools) await pool.destroy();
    for (const member of members) await member.stop();
  });

  it("the watermark of each member passes what is committed, although threads of the group never end", async () => {
    for (const member of [here, other]) {
      await writers("charges").insert(CHARGE);
      const [recorded] = await writers("charges")
        .orderBy("recorded_at", "desc")
        .pluck("recorded_at");
      await member.raw("DO SLEEP(0.12)"); // so long the server shows the same list of transactions
      const clock = await readClock(member, 0, true);
      expect(clock.waitsFor).toBeUndefined();
      expect(clock.until > recorded).toBe(true);
      expect(await rollUp(member, OPTIONS)).toMatchObject({ charges: 1, repairs: 0, behind: 0 });
    }
  });

  it("a charge that another member has committed is never missing, however late this one applies it", async () => {
    await session.raw("LOCK TABLES charges READ");
    await writers("charges").insert(CHARGE);
    let ended = false;
    const run = rollUp(other, OPTIONS).finally(() => {
      ended = true;
    });
    const waiting = `SELECT 1 FROM information_schema.PROCESSLIST
      WHERE USER <> 'system user' AND STATE LIKE '%hook on transaction begin%'`;
    await until(async () => ended || (await session.raw(waiting))[0].length > 0);
    await session.raw("UNLOCK TABLES");
    expect(await run).toMatchObject({ charges: 1, repairs: 0 });
    expect(await Array.fromAsync(verify(other, "1"))).toEqual([]);
  });
});
