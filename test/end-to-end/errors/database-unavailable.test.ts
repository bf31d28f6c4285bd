/** The errors of calls while the database is killed or does not respond, and the recovery. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
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

describe.skipIf(process.env.DATABASE_URL)("while the database", () => {
  let fixture: PrivateFixture;
  beforeAll(async () => {
    fixture = await createPrivateFixture({ MAX_CALL_MS: "3000" });
  });
  afterAll(() => fixture?.dispose());

  const call = (name: string, requestId = "none"): Promise<Outcome> =>
    fixture.clients.get(name).call({
      method: "GetOverview",
      headers: [...withKey(fixture.key), ["x-request-id", requestId]],
    });
  const callAll = () =>
    Promise.all(
      FAST_CLIENTS.map(async (name) => ({ name, outcome: withoutHeaders(await call(name)) })),
    );

  async function expectRecovery(): Promise<void> {
    await until(20_000, async () => "response" in (await call("REST")));
    for (const { name, outcome } of await callAll()) {
      expect(outcome, name).toHaveProperty("response");
    }
  }

  it("is killed, every client gets an error without details, and answers again later", async () => {
    await expectRecovery();
    await fixture.server.kill();
    for (const { name, outcome } of await callAll()) {
      const expected = errorThrough(fixture.clients.get(name), DATABASE_UNAVAILABLE);
      expect(outcome, name).toEqual(expected);
    }
    await call("REST", "killed");
    expect(await fixture.service.logOf("killed")).toMatchObject([
      {
        level: "warn",
        code: "UNAVAILABLE",
        reason: "databaseUnavailable",
        cause: expect.any(Object),
      },
    ]);
    await fixture.server.start();
    await expectRecovery();
  });

  it("does not respond, every call ends by MAX_CALL_MS", async () => {
    await expectRecovery();
    fixture.server.suspend();
    const outcomes = await callAll().finally(() => fixture.server.resume());
    for (const { name, outcome } of outcomes) {
      const expected = [DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED].map((error) =>
        errorThrough(fixture.clients.get(name), error),
      );
      expect(expected, name).toContainEqual(outcome);
    }
    await expectRecovery();
  });
});
