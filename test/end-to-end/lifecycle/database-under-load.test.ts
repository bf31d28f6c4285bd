/**
 * A database that is killed, suspended and restarted under load over REST and gRPC: every request
 * ends within the deadline, with the correct response or with the documented error, and the
 * service recovers by itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED } from "../../support/expected-error.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import {
  grpcLoadClient,
  type Load,
  type Result,
  restLoadClient,
  startLoad,
} from "../../support/service/load.ts";
import {
  createPrivateFixture,
  type PrivateFixture,
} from "../../support/service/private-fixture.ts";

/** The service's own deadline and a second for the rest of the request, in milliseconds. */
const MAX_DURATION = 10_000 + 1_000;
/** How soon every request is answered again after the database is back, in milliseconds. */
const MAX_RECOVERY = 5_000;
const CLIENTS = { rest: 4, grpc: 2 };

const ERRORS = [
  `${DATABASE_UNAVAILABLE.status} ${DATABASE_UNAVAILABLE.body}`,
  ...[DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED].map(({ code, message }) => `${code}: ${message}`),
];

describe.skipIf(process.env.DATABASE_URL)("under load, a database", () => {
  let fixture: PrivateFixture;
  /** The answers of successful requests: REST's response and gRPC's code. */
  let correct: readonly string[];
  let load: Load;
  beforeAll(async () => {
    fixture = await createPrivateFixture();
    const headers = withKey(fixture.key);
    const answer = await rawHttp(fixture.service.http, { target: paths.GetOverview, headers });
    expect(answer.text).toMatch(/^\{"summary":/);
    correct = [`200 ${answer.text}`, "OK"];
  });
  afterAll(() => fixture?.dispose());

  beforeEach(async () => {
    const { http, grpc } = fixture.service;
    load = startLoad([
      ...Array.from({ length: CLIENTS.rest }, () => restLoadClient(http, fixture.key, true)),
      ...Array.from({ length: CLIENTS.grpc }, () => grpcLoadClient(grpc, fixture.key)),
    ]);
    await until(5_000, () => load.answered() >= 100);
  });
  afterEach(() => load.stop());

  function isCorrect(result: Result): boolean {
    return result.kind === "answered" && correct.includes(result.answer);
  }

  /** The results since an instant that are not correct responses. */
  function failures(since = 0) {
    return load.results.filter(({ at, result }) => at >= since && !isCorrect(result));
  }

  /** Waits until no request has failed for half a second. */
  async function untilRecovered(): Promise<void> {
    const back = performance.now();
    await until(MAX_RECOVERY, () => {
      const last = failures().at(-1)?.at ?? 0;
      const answered = load.results.some(({ at, result }) => at > last && isCorrect(result));
      return answered && performance.now() - Math.max(last, back) > 500;
    });
  }

  /** Every request ended in time, with a correct response or a documented error. */
  async function expectDocumentedResults(): Promise<void> {
    await load.stop();
    const unexpected = failures().filter(
      ({ result }) => result.kind !== "answered" || !ERRORS.includes(result.answer),
    );
    expect(unexpected).toEqual([]);
    const durations = load.results.map(({ result }) =>
      result.kind === "answered" ? result.duration : 0,
    );
    expect(Math.max(...durations)).toBeLessThan(MAX_DURATION);
  }

  it("that is killed and restarted causes documented errors, and the service recovers", async () => {
    await fixture.server.kill();
    const killed = performance.now();
    await until(5_000, () => failures(killed).length >= 20);
    await fixture.server.start();
    await untilRecovered();
    await expectDocumentedResults();
  });

  it("that stops responding causes documented errors, and the service recovers", async () => {
    fixture.server.suspend();
    const suspended = performance.now();
    const everyClient = CLIENTS.rest + CLIENTS.grpc;
    await until(MAX_DURATION, () => failures(suspended).length >= everyClient).finally(() =>
      fixture.server.resume(),
    );
    await untilRecovered();
    await expectDocumentedResults();
  });

  it("that stops responding for half a second causes no error", async () => {
    fixture.server.suspend();
    await sleep(500);
    fixture.server.resume();
    await untilRecovered();
    await load.stop();
    expect(failures()).toEqual([]);
  });
});
