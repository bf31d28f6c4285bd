/** The errors of calls while the database is killed or does not respond, and the recovery. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { ALL_CLIENTS, DEADLINE_CLIENTS, FAST_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import {
  DATABASE_UNAVAILABLE,
  DEADLINE_EXCEEDED,
  errorThrough,
} from "../../support/expected-error.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import {
  createPrivateFixture,
  type PrivateFixture,
} from "../../support/service/private-fixture.ts";

/** The service's own deadline and a second for the rest of the call, in milliseconds. */
const MAX_DURATION = 10_000 + 1_000;
/** The deadline that clients set, in milliseconds. */
const CLIENT_DEADLINE = 500;

describe.skipIf(process.env.DATABASE_URL)("while the database", () => {
  let fixture: PrivateFixture;
  beforeAll(async () => {
    fixture = await createPrivateFixture();
  });
  afterAll(() => fixture?.dispose());

  const call = (name: string, requestId = "none", timeout?: number): Promise<Outcome> =>
    fixture.clients.get(name).call({
      method: "GetOverview",
      headers: [...withKey(fixture.key), ["x-request-id", requestId]],
      ...(timeout === undefined ? {} : { timeout }),
    });

  async function untilRecovered(): Promise<void> {
    await until(5_000, async () => "response" in (await call("REST")));
    for (const name of FAST_CLIENTS) expect(await call(name)).toHaveProperty("response");
  }

  describe("is killed", () => {
    beforeAll(async () => {
      await untilRecovered();
      await fixture.server.kill();
    });

    it.each(ALL_CLIENTS)("%s receives an error without details", async (name) => {
      const outcome = await call(name);
      const expected = errorThrough(fixture.clients.get(name), DATABASE_UNAVAILABLE);
      expect(withoutHeaders(outcome)).toEqual(expected);
      const url = new URL(fixture.server.url);
      const text = JSON.stringify(outcome).toLowerCase();
      for (const secret of [url.port, url.password, "ECONN", "mysql", "select", "127.0.0.1"]) {
        expect(text).not.toContain(secret.toLowerCase());
      }
    });

    it("REST's response has the headers of every response and no others", async () => {
      const { headers } = await rawHttp(fixture.service.http, {
        target: "/api/provider/revenue",
        headers: withKey(fixture.key),
      });
      const { connection: _, "keep-alive": __, ...others } = headers;
      expect(Object.keys(others).sort()).toEqual([
        ...["cache-control", "content-length", "content-type", "date"],
        ...["x-content-type-options", "x-request-id"],
      ]);
    });

    it("the cause is logged with the request's id", async () => {
      await call("REST", "killed");
      expect(await fixture.service.logOf("killed")).toMatchObject([
        {
          level: "warn",
          code: "UNAVAILABLE",
          reason: "databaseUnavailable",
          cause: expect.any(Object),
        },
      ]);
    });

    it("a malformed key is still rejected as such", async () => {
      const request = { method: "GetOverview", headers: withKey("no key") } as const;
      expect(await fixture.clients.get("REST").call(request)).toMatchObject({ code: "401" });
    });

    it("calls are answered again once it is started", async () => {
      await fixture.server.start();
      await untilRecovered();
    });
  });

  it("does not respond, calls end by the service's deadline or by the client's own", async () => {
    await untilRecovered();
    fixture.server.suspend();
    const timed = async (name: string, requestId: string, timeout?: number) => {
      const start = performance.now();
      const outcome = withoutHeaders(await call(name, requestId, timeout));
      return { name, requestId, outcome, duration: performance.now() - start };
    };
    const [withServiceDeadline, withClientDeadline] = await Promise.all([
      Promise.all(FAST_CLIENTS.map((name) => timed(name, "suspended"))),
      Promise.all(
        DEADLINE_CLIENTS.map((name) =>
          timed(name, `suspended-${name.replace(/\W+/g, "-")}`, CLIENT_DEADLINE),
        ),
      ),
    ]).finally(() => fixture.server.resume());

    for (const { name, outcome, duration } of withServiceDeadline) {
      const expected = [DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED].map((error) =>
        errorThrough(fixture.clients.get(name), error),
      );
      expect(expected, name).toContainEqual(outcome);
      expect(duration, name).toBeLessThan(MAX_DURATION);
    }
    for (const { name, requestId, outcome, duration } of withClientDeadline) {
      expect(outcome, name).toMatchObject({ code: "DEADLINE_EXCEEDED" });
      expect(duration, name).toBeLessThan(CLIENT_DEADLINE + 1_000);
      // The server notices the deadline, or first that the client has cancelled.
      const [line] = await fixture.service.logOf(requestId);
      expect(["DEADLINE_EXCEEDED", "CANCELLED"], name).toContain(line?.code);
    }
    await untilRecovered();
  });
});
