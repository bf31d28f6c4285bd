/**
 * The last release beside this version, on one database and under writers, as in an upgrade and on the way back:
 * services and rollups of both, in every combination. Whoever is asked, the answer is what the ledger has.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findRelease, unpackRelease } from "../../../dev/last-release.ts";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { parseCents } from "../../../src/db/cents.ts";
import { type RunningCommand, startCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths } from "../../support/request.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import {
  type LogLine,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const { version, commit, isHere } = findRelease();
if (!isHere) {
  console.warn(
    `!! ${version} is NOT tested beside this version: git fetch --depth 1 origin ${commit}`,
  );
}

type Version = "before" | "this";
const VERSIONS: readonly Version[] = ["before", "this"];

/** Who rolls up, in order: an upgrade, and the way back. */
const STEPS: readonly (readonly Version[])[] = [["before", "this"], ["this"], ["before"]];

/** Questions in one step under writers, and those whose answers must be equal when nobody writes. */
const ROUNDS = 3;
const PROVIDER = 1;
/** So many that both versions have a rollup of them. */
const CHARGES = 6_000;
/** Between two rows of a writer, in ms. */
const PAUSE = 20;
const PERIOD = "startDate=2025-06-01&endDate=2026-05-31";
const DAYS = "startDate=2026-01-01&endDate=2026-03-31";
const BREAKDOWN = `${paths.GetServerBreakdown}?${PERIOD}`;
const QUESTIONS = [
  paths.GetOverview,
  BREAKDOWN,
  `${paths.GetServerBreakdown}?${PERIOD}&timeZone=Asia/Kolkata`,
  `${paths.GetDailyRevenue}?${DAYS}`,
  paths.ListPayouts,
];

describe.skipIf(!isHere)(`release ${version} (${commit.slice(0, 12)}) beside this version`, () => {
  let release: ReturnType<typeof unpackRelease>;
  let database: TestDatabase;
  let key: string;
  const services = {} as Record<Version, ServiceProcess>;
  const rollups = new Map<Version, RunningCommand>();
  /** The folders of the code; undefined for this one. */
  const folders = () => ({ before: release.folder, this: undefined });

  beforeAll(async () => {
    release = unpackRelease(commit);
    database = await createDatabase();
    await addBulk(database.knex, [
      { provider: PROVIDER, servers: 5, instances: 8, charges: CHARGES, rentals: 200 },
    ]);
    await database.knex("rentals").whereNull("ended_at").del();
    ({ key } = await issueKey(database.knex, `${PROVIDER}`, "test", null));
    for (const name of VERSIONS) {
      services[name] = await startService(database.url, {}, folders()[name]);
    }
  });
  afterAll(async () => {
    await rollUpWith([]);
    for (const service of Object.values(services)) await service.kill();
    await database?.drop();
    await release?.remove();
  });

  /** Runs the rollups of some versions again and again, and waits for the end of the first run of each. */
  async function rollUpWith(versions: readonly Version[]): Promise<void> {
    for (const [name, command] of rollups) {
      if (versions.includes(name)) continue;
      command.signal("SIGKILL");
      await command.ended;
      rollups.delete(name);
    }
    const flags = ["--margin", "1", "--watch", "0.2"];
    for (const name of versions.filter((name) => !rollups.has(name))) {
      rollups.set(name, startCommand("rollup", flags, database.url, folders()[name]));
    }
    for (const name of versions)
      await until(() => logOf(name).some(({ msg }) => msg === "run ended"));
  }
  const logOf = (name: Version) =>
    (rollups.get(name)?.lines() ?? []).map((line) => JSON.parse(line));

  async function ask(name: Version, path: string): Promise<Readonly<Record<string, unknown>>> {
    const headers = { "x-api-key": key };
    const response = await fetch(services[name].http + path, { headers });
    expect(response.status, `${name} ${path}`).toBe(200);
    return response.json() as Promise<Readonly<Record<string, unknown>>>;
  }

  /** The gross of the period in cents, by the ledger alone. */
  async function ledger(knex: Knex): Promise<bigint> {
    const [row] = await knex("charges")
      .where({ provider_id: PROVIDER })
      .whereBetween("charged_at", ["2025-06-01 00:00:00.000", "2026-05-31 23:59:59.999"])
      .sum({ gross: "gross" });
    return parseCents(String(row?.gross));
  }
  const grossOf = async (name: Version) => {
    const { totalRevenue } = await ask(name, BREAKDOWN);
    return parseCents((totalRevenue as number).toFixed(2));
  };

  /** Writes charges of all days, and rentals, until work is done. */
  async function whileWriting(work: () => Promise<void>): Promise<void> {
    let isDone = false;
    const write = async (nth: number) => {
      for (let count = 0; !isDone; count++) {
        const owner = { provider_id: PROVIDER, server_id: 1_001, instance_id: 1_001 };
        const at = new Date(Date.UTC(2025, 5, 1) + ((count * 7 + nth) % 500) * 86_400_000);
        await database.knex("charges").insert({ ...owner, charged_at: at, gross: "1.25" });
        await sleep(PAUSE);
        if (count % 10 > 0) continue;
        const ended_at = new Date(at.getTime() + 3_600_000);
        await database.knex("rentals").insert({ ...owner, started_at: at, ended_at });
      }
    };
    const writers = [1, 2].map(write);
    try {
      await work();
    } finally {
      isDone = true;
      await Promise.all(writers);
    }
  }

  it("services of this version tell that a rollup is missing, though they have not seen any", async () => {
    await ask("this", paths.GetOverview);
    const told = ({ msg }: LogLine) => msg === "provider has no rollup";
    await until(() => services.this.log().some(told));
    const text = await (await fetch(`${services.this.admin}/metrics`)).text();
    expect(sumOf(parseExposition(text), "revenue_rollup_providers_missing")).toBe(1);
  });

  it.each(STEPS.map((step, nth) => [step.join(" and "), nth, step] as const))(
    "with the rollups of %s (step %d), both services tell what the ledger has",
    async (_, __, step) => {
      await whileWriting(async () => {
        await rollUpWith(step);
        for (let round = 0; round < ROUNDS; round++) {
          for (const name of VERSIONS) {
            const before = await ledger(database.knex);
            const gross = await grossOf(name);
            expect(gross, name).toBeGreaterThanOrEqual(before);
            expect(gross, name).toBeLessThanOrEqual(await ledger(database.knex));
          }
        }
      });
      const exact = await ledger(database.knex);
      expect(await Promise.all(VERSIONS.map(grossOf))).toEqual([exact, exact]);
      for (const path of QUESTIONS) {
        // This version may tell more. An answer may be of the day, or the second, before the other one.
        const areEqual = async () =>
          expect(await ask("this", path)).toMatchObject(await ask("before", path));
        await vi.waitFor(areEqual, { timeout: TIME_LIMIT });
      }
      const failures = step.flatMap(logOf).filter(({ msg }) => /failed|repaired/.test(msg));
      expect(failures).toEqual([]);
    },
  );
});
