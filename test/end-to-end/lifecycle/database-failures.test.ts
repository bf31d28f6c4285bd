/**
 * A database that is killed, restarted and suspended under load over REST and gRPC: every request ends within the
 * deadline, with the correct response or with the documented error, and the service recovers by itself. One that
 * closes connections loses no call: password.test.ts.
 */
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../dev/private-database/private-database.ts";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { CLIENTS, type Clients, openClients } from "../../support/clients/clients.ts";
import { healthOf } from "../../support/clients/health.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { testPool } from "../../support/database.ts";
import {
  DATABASE_UNAVAILABLE,
  DEADLINE_EXCEEDED,
  errorThrough,
} from "../../support/expected-error.ts";
import { poll, until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import {
  grpcLoadClient,
  type Load,
  type Result,
  restLoadClient,
  startLoad,
} from "../../support/service/load.ts";
import {
  type LogLine,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const ERRORS = [
  `${DATABASE_UNAVAILABLE.status} ${DATABASE_UNAVAILABLE.body}`,
  ...[DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED].map(({ code, message }) => `${code}: ${message}`),
];

describe.skipIf(process.env.DATABASE_URL)("a database", () => {
  let server: PrivateDatabase;
  let knex: Knex;
  let service: ServiceProcess;
  let clients: Clients;
  let key: string;
  /** The answers of successful requests: REST's response and gRPC's code. */
  let correct: readonly string[];
  let load: Load;
  beforeAll(async () => {
    server = await startPrivateDatabase({ bufferPool: "64M" });
    knex = testPool(server.url, { maxConnections: 1 });
    await migrateToLatest(knex);
    await smallLedger({ knex });
    ({ key } = await issueKey(knex, "1", "test", null));
    // For the second test. Both admit errors by it.
    service = await startService(server.url, { MAX_CALL_MS: "2000" });
    clients = openClients(service);
    const headers = withKey(key);
    // The first one may be late on a busy machine.
    const { text } = await poll(async () => {
      const answer = await rawHttp(service.http, { target: paths.GetOverview, headers });
      return answer.status === 200 ? answer : undefined;
    });
    expect(text).toMatch(/^\{"summary":/);
    correct = [`200 ${text}`, "OK"];
  });
  afterAll(async () => {
    clients?.close();
    await service?.kill();
    await knex?.destroy();
    await server?.stop();
  });

  async function startRequests(): Promise<void> {
    const { http, grpc } = service;
    load = startLoad([
      ...Array.from({ length: 4 }, () => restLoadClient(http, key)),
      ...Array.from({ length: 2 }, () => grpcLoadClient(grpc, key)),
    ]);
    onTestFinished(() => load.stop());
    await until(() => load.answered() >= 50);
  }

  const isCorrect = (result: Result) =>
    result.kind === "answered" && correct.includes(result.answer);
  const failures = () => load.results.filter(({ result }) => !isCorrect(result));

  /** One call through each client while the database is away. */
  const callAll = (): Promise<{ name: string; outcome: Outcome }[]> =>
    Promise.all(
      CLIENTS.map(async (name) => {
        const request = { method: "GetOverview", headers: withKey(key) } as const;
        const outcome = await clients.get(name).call(request);
        return { name, outcome };
      }),
    );

  /** A busy machine is late where it would have found nobody. */
  function expectErrors(calls: Awaited<ReturnType<typeof callAll>>): void {
    for (const { name, outcome } of calls) {
      const expected = [DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED].map((error) =>
        errorThrough(clients.get(name), error),
      );
      expect(expected, name).toContainEqual(withoutHeaders(outcome));
    }
  }

  /** Waits until no request has failed for half a second. */
  async function untilRecovered(): Promise<void> {
    const back = performance.now();
    await until(() => {
      const last = failures().at(-1)?.at ?? 0;
      const answered = load.results.some(({ at, result }) => at > last && isCorrect(result));
      return answered && performance.now() - Math.max(last, back) > 500;
    });
  }

  /** Every request ended, with a correct response or a documented error. */
  async function expectDocumentedResults(): Promise<void> {
    await load.stop();
    const unexpected = failures().filter(
      ({ result }) => result.kind !== "answered" || !ERRORS.includes(result.answer),
    );
    expect(unexpected).toEqual([]);
  }

  it("under load that is killed causes one error without details, makes the service not ready, and when it is back the service recovers", async () => {
    await startRequests();
    await server.kill();
    expectErrors(await callAll());
    // Not those of one call: of many that fail in a second, a hundred have a line.
    const isUnavailable = ({ reason }: LogLine) => reason === "databaseUnavailable";
    const line = await poll(() => service.log().find(isUnavailable));
    expect(line).toMatchObject({
      level: "warn",
      code: "UNAVAILABLE",
      cause: expect.any(Object),
    });
    const readiness = async () => (await fetch(`${service.admin}/readyz?verbose`)).text();
    await until(async () => (await readiness()).endsWith("readyz check failed\n"));
    expect(await readiness()).toMatch(
      /^\[\+\]shutdown ok\n\[\+\]schema ok\n\[-\]database failed: /,
    );
    expect(await healthOf(service.grpc).check("")).toBe("NOT_SERVING");
    expect((await fetch(`${service.admin}/livez`)).status).toBe(200);
    const metrics = parseExposition(await (await fetch(`${service.admin}/metrics`)).text());
    expect(sumOf(metrics, "revenue_ready")).toBe(0);
    const lines = () => service.log().filter(({ msg }) => msg === "not ready");
    await until(() => lines().length > 0);
    expect(lines().at(-1)).toMatchObject({ level: "warn", failed: ["database"] });
    await server.start();
    await untilRecovered();
    await expectDocumentedResults();
  });

  it("under load that stops responding causes errors by MAX_CALL_MS, and the service recovers", async () => {
    await startRequests();
    await server.suspend();
    // None of them waits for what comes after it.
    const outcomes = await callAll().finally(() => server.resume());
    // An answer may have been on its way when the server was suspended.
    const failed = outcomes.filter(({ outcome }) => "code" in outcome);
    expect(failed).not.toEqual([]);
    expectErrors(failed);
    await untilRecovered();
    await expectDocumentedResults();
  });
});
