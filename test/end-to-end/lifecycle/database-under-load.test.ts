/**
 * A database that is killed, suspended and started again while REST and gRPC clients keep
 * asking: every request is answered within the deadline, either with the right figures or
 * with the one error; and the service recovers by itself.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { grpcLoadClient, type Load, restClient, startLoad } from "../../support/service/load.ts";
import {
  createPrivateFixture,
  type PrivateFixture,
} from "../../support/service/private-fixture.ts";

/** The service's own deadline, and a little for the way, in milliseconds. */
const WITHIN = 10_000 + 1_000;
/** How soon everything is answered again after the database is back, in milliseconds. */
const RECOVERY = 5_000;

const AWAY = '500 {"error":"An error occurred while retrieving revenue data"}';
const GRPC_AWAY = "UNAVAILABLE: the revenue data cannot be reached at the moment; try again";
const GRPC_LATE = "DEADLINE_EXCEEDED: the call took longer than its deadline";

describe.skipIf(process.env.DATABASE_URL)("under load, a database that", () => {
  let fixture: PrivateFixture;
  let right: string;
  beforeAll(async () => {
    fixture = await createPrivateFixture();
    const target = "/api/provider/revenue";
    const answer = await rawHttp(fixture.service.http, { target, headers: withKey(fixture.key) });
    right = `${answer.status} ${answer.text}`;
    expect(right).toMatch(/^200 \{"summary":/);
  });
  afterAll(() => fixture?.dispose());

  function load(): Load {
    const { http, grpc } = fixture.service;
    return startLoad([
      ...Array.from({ length: 4 }, () => restClient(http, fixture.key, true)),
      ...Array.from({ length: 2 }, () => grpcLoadClient(grpc, fixture.key)),
    ]);
  }

  /** Who was answered with an error since an instant. */
  function failures({ endings }: Load, since: number) {
    return endings.filter(({ at, ending }) => at >= since && !isRight(ending));
  }

  function isRight(ending: Load["endings"][number]["ending"]): boolean {
    return ending.kind === "answered" && (ending.told === right || ending.told === "OK");
  }

  /** Waits until every client was answered rightly again, and half a second more. */
  async function recovered(load: Load, back: number): Promise<void> {
    const calm = 500;
    await until(RECOVERY, () => {
      const last = failures(load, 0).at(-1)?.at ?? 0;
      const answered = load.endings.some(({ at, ending }) => at > last && isRight(ending));
      return answered && performance.now() - Math.max(last, back) > calm;
    });
  }

  function expectHonest(load: Load): void {
    const told = new Set(
      load.endings.map(({ ending }) =>
        ending.kind === "answered" ? ending.told : `${ending.kind}: ${JSON.stringify(ending)}`,
      ),
    );
    for (const expected of [right, "OK", AWAY, GRPC_AWAY, GRPC_LATE]) told.delete(expected);
    expect([...told]).toEqual([]);
    const took = load.endings.map(({ ending }) => (ending.kind === "answered" ? ending.took : 0));
    expect(Math.max(...took)).toBeLessThan(WITHIN);
  }

  it("is killed and started again", async () => {
    const under = load();
    await until(5_000, () => under.answered() >= 100);
    await fixture.server.kill();
    const killed = performance.now();
    await until(5_000, () => failures(under, killed).length >= 20);
    await fixture.server.start();
    await recovered(under, performance.now());
    await under.stop();
    expectHonest(under);
  });

  it("hangs for a while", async () => {
    const under = load();
    await until(5_000, () => under.answered() >= 100);
    fixture.server.suspend();
    const hung = performance.now();
    // Until every client has heard of it.
    await until(WITHIN, () => failures(under, hung).length >= 6).finally(() =>
      fixture.server.resume(),
    );
    await recovered(under, performance.now());
    await under.stop();
    expectHonest(under);
  });

  it("hangs so briefly that nobody need notice", async () => {
    const under = load();
    await until(5_000, () => under.answered() >= 100);
    fixture.server.suspend();
    const hung = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 500));
    fixture.server.resume();
    await recovered(under, performance.now());
    await under.stop();
    expect(failures(under, hung)).toEqual([]);
  });
});
