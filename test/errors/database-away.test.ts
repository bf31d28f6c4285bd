/** What callers see of a database that is killed, or that hangs: one field, within the deadline. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../service/door.ts";
import { DOORS, QUICK_DOORS } from "../service/doors.ts";
import { until } from "../service/poll.ts";
import { type PrivateStage, setPrivateStage } from "../service/private-stage.ts";
import { withKey } from "../service/question.ts";
import { rawHttp } from "../service/raw-http.ts";
import { bare, DATABASE_AWAY, DEADLINE_EXCEEDED, through } from "../service/refusal.ts";

/** The service's own deadline, and a little for the way. */
const WITHIN = 10_000 + 1_000;

describe.skipIf(process.env.DATABASE_URL)("with a database that", () => {
  let stage: PrivateStage;
  beforeAll(async () => {
    stage = await setPrivateStage();
  });
  afterAll(() => stage?.strike());

  const ask = (name: string): Promise<Outcome> =>
    stage.doors.named(name).call({ method: "GetOverview", headers: withKey(stage.key) });

  async function recovered(): Promise<void> {
    await until(5_000, async () => "answer" in (await ask("REST")));
    for (const name of QUICK_DOORS) expect(await ask(name)).toHaveProperty("answer");
  }

  describe("is killed", () => {
    beforeAll(async () => {
      await recovered();
      await stage.server.kill();
    });

    it.each(DOORS)("%s says so, and nothing else", async (name) => {
      const outcome = await ask(name);
      expect(bare(outcome)).toEqual(through(stage.doors.named(name), DATABASE_AWAY));
      const url = new URL(stage.server.url);
      const told = JSON.stringify(outcome);
      for (const secret of [url.port, url.password, "ECONN", "mysql", "select", "127.0.0.1"]) {
        expect(told.toLowerCase()).not.toContain(secret.toLowerCase());
      }
    });

    it("REST's answer has the headers of every answer, and no more", async () => {
      const { headers } = await rawHttp(stage.service.http, {
        target: "/api/provider/revenue",
        headers: withKey(stage.key),
      });
      const ours = Object.keys(headers).filter((name) => !/^(connection|keep-alive)$/.test(name));
      expect(ours.sort()).toEqual([
        ...["cache-control", "content-length", "content-type", "date"],
        ...["x-content-type-options", "x-request-id"],
      ]);
    });

    it("the cause is in the log, under the request's id", async () => {
      const headers = [...withKey(stage.key), ["x-request-id", "killed"] as const];
      await stage.doors.named("REST").call({ method: "GetOverview", headers });
      expect(await stage.service.logOf("killed")).toMatchObject([
        { level: "warn", code: "UNAVAILABLE", reason: "databaseAway", cause: expect.any(Object) },
      ]);
    });

    it("a key that cannot be one is refused all the same", async () => {
      const outcome = await stage.doors.named("REST").call({
        method: "GetOverview",
        headers: withKey("no key"),
      });
      expect(outcome).toMatchObject({ code: "401" });
    });

    it("and afterwards everything is as before", async () => {
      await stage.server.start();
      await recovered();
    });
  });

  describe("hangs", () => {
    it("every door answers within the deadline, and afterwards as before", async () => {
      await recovered();
      stage.server.suspend();
      const began = performance.now();
      const outcomes = await Promise.all(
        QUICK_DOORS.map(async (name) => {
          const outcome = bare(await ask(name));
          return { name, outcome, took: performance.now() - began };
        }),
      ).finally(() => stage.server.resume());
      for (const { name, outcome, took } of outcomes) {
        const door = stage.doors.named(name);
        const told = [DATABASE_AWAY, DEADLINE_EXCEEDED].map((refusal) => through(door, refusal));
        expect(told, name).toContainEqual(outcome);
        expect(took, name).toBeLessThan(WITHIN);
      }
      await recovered();
    });

    it("a caller's own deadline is kept", async () => {
      stage.server.suspend();
      const began = performance.now();
      const doors = QUICK_DOORS.filter((name) => name !== "REST");
      const outcomes = await Promise.all(
        doors.map((name) =>
          stage.doors.named(name).call({
            method: "GetOverview",
            headers: [...withKey(stage.key), ["x-request-id", name.replace(/\W+/g, "-")]],
            timeout: 500,
          }),
        ),
      ).finally(() => stage.server.resume());
      expect(performance.now() - began).toBeLessThan(1_500);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ code: "DEADLINE_EXCEEDED" });
      }
      for (const name of doors) {
        const [line] = await stage.service.logOf(name.replace(/\W+/g, "-"));
        expect(["DEADLINE_EXCEEDED", "CANCELLED"], name).toContain(line?.code);
      }
      await recovered();
    });
  });
});
