/** What callers see of a database that is killed, or that hangs: one field, within the deadline. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../../support/clients/client.ts";
import { CLIENTS, QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { bare, DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED, through } from "../../support/refusal.ts";
import { withKey } from "../../support/request.ts";
import {
  createPrivateFixture,
  type PrivateFixture,
} from "../../support/service/private-fixture.ts";

/** The service's own deadline, and a little for the way. */
const WITHIN = 10_000 + 1_000;

describe.skipIf(process.env.DATABASE_URL)("with a database that", () => {
  let fixture: PrivateFixture;
  beforeAll(async () => {
    fixture = await createPrivateFixture();
  });
  afterAll(() => fixture?.dispose());

  const ask = (name: string): Promise<Outcome> =>
    fixture.clients.named(name).call({ method: "GetOverview", headers: withKey(fixture.key) });

  async function recovered(): Promise<void> {
    await until(5_000, async () => "answer" in (await ask("REST")));
    for (const name of QUICK_CLIENTS) expect(await ask(name)).toHaveProperty("answer");
  }

  describe("is killed", () => {
    beforeAll(async () => {
      await recovered();
      await fixture.server.kill();
    });

    it.each(CLIENTS)("%s says so, and nothing else", async (name) => {
      const outcome = await ask(name);
      expect(bare(outcome)).toEqual(through(fixture.clients.named(name), DATABASE_UNAVAILABLE));
      const url = new URL(fixture.server.url);
      const told = JSON.stringify(outcome);
      for (const secret of [url.port, url.password, "ECONN", "mysql", "select", "127.0.0.1"]) {
        expect(told.toLowerCase()).not.toContain(secret.toLowerCase());
      }
    });

    it("REST's answer has the headers of every answer, and no more", async () => {
      const { headers } = await rawHttp(fixture.service.http, {
        target: "/api/provider/revenue",
        headers: withKey(fixture.key),
      });
      const ours = Object.keys(headers).filter((name) => !/^(connection|keep-alive)$/.test(name));
      expect(ours.sort()).toEqual([
        ...["cache-control", "content-length", "content-type", "date"],
        ...["x-content-type-options", "x-request-id"],
      ]);
    });

    it("the cause is in the log, under the request's id", async () => {
      const headers = [...withKey(fixture.key), ["x-request-id", "killed"] as const];
      await fixture.clients.named("REST").call({ method: "GetOverview", headers });
      expect(await fixture.service.logOf("killed")).toMatchObject([
        {
          level: "warn",
          code: "UNAVAILABLE",
          reason: "databaseUnavailable",
          cause: expect.any(Object),
        },
      ]);
    });

    it("a key that cannot be one is refused all the same", async () => {
      const outcome = await fixture.clients.named("REST").call({
        method: "GetOverview",
        headers: withKey("no key"),
      });
      expect(outcome).toMatchObject({ code: "401" });
    });

    it("and afterwards everything is as before", async () => {
      await fixture.server.start();
      await recovered();
    });
  });

  describe("hangs", () => {
    it("every door answers within the deadline, and afterwards as before", async () => {
      await recovered();
      fixture.server.suspend();
      const began = performance.now();
      const outcomes = await Promise.all(
        QUICK_CLIENTS.map(async (name) => {
          const outcome = bare(await ask(name));
          return { name, outcome, took: performance.now() - began };
        }),
      ).finally(() => fixture.server.resume());
      for (const { name, outcome, took } of outcomes) {
        const door = fixture.clients.named(name);
        const told = [DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED].map((refusal) =>
          through(door, refusal),
        );
        expect(told, name).toContainEqual(outcome);
        expect(took, name).toBeLessThan(WITHIN);
      }
      await recovered();
    });

    it("a caller's own deadline is kept", async () => {
      fixture.server.suspend();
      const began = performance.now();
      const clients = QUICK_CLIENTS.filter((name) => name !== "REST");
      const outcomes = await Promise.all(
        clients.map((name) =>
          fixture.clients.named(name).call({
            method: "GetOverview",
            headers: [...withKey(fixture.key), ["x-request-id", name.replace(/\W+/g, "-")]],
            timeout: 500,
          }),
        ),
      ).finally(() => fixture.server.resume());
      expect(performance.now() - began).toBeLessThan(1_500);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ code: "DEADLINE_EXCEEDED" });
      }
      for (const name of clients) {
        const [line] = await fixture.service.logOf(name.replace(/\W+/g, "-"));
        expect(["DEADLINE_EXCEEDED", "CANCELLED"], name).toContain(line?.code);
      }
      await recovered();
    });
  });
});
