/** A request's id: taken over where it is sane, made where it is not; in the answer and in the log. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.each(QUICK_CLIENTS)("through %s", (door) => {
  async function idOf(given: string | undefined, key = fixture.key): Promise<string | undefined> {
    const { head } = await fixture.clients.named(door).call({
      method: "GetOverview",
      headers: [
        ...withKey(key),
        ...(given === undefined ? [] : [["x-request-id", given] as const]),
      ],
    });
    return head["x-request-id"];
  }

  it.each(["7", "Root=1-67891233-abcdef012345678912345678", "a".repeat(128)])(
    "%s is taken over",
    async (start) => {
      const id = start.length === 128 ? start : `${start}:${randomUUID()}`;
      expect(await idOf(id)).toBe(id);
    },
  );

  it.each([
    ["none", undefined],
    ["an empty one", ""],
    ["one with a space in it", "a b"],
    ["one with quotes in it", '"a"'],
    ["one that is too long", "a".repeat(129)],
    ["one that is a key", generateKey()],
  ])("for %s a new one is made", async (_, given) => {
    expect(await idOf(given)).toMatch(UUID);
  });

  it("is in the answer to a refused call too", async () => {
    const id = randomUUID();
    expect(await idOf(id, "no key")).toBe(id);
  });

  it("is in the log, in one line", async () => {
    const id = randomUUID();
    await idOf(id);
    expect(await fixture.service.logOf(id)).toHaveLength(1);
  });
});

it("two of them are none", async () => {
  const { headers } = await rawHttp(fixture.service.http, {
    target: "/api/provider/revenue",
    headers: [...withKey(fixture.key), ["x-request-id", "a"], ["x-request-id", "b"]],
  });
  expect(headers["x-request-id"]).toMatch(UUID);
});

it.each([
  ["404", "/nowhere"],
  ["405", "/revenue.v1.RevenueService/GetOverview"],
])("a %s has it too", async (status, target) => {
  const { headers, ...answer } = await rawHttp(fixture.service.http, {
    method: "DELETE",
    target,
    headers: [["x-request-id", "mine"]],
  });
  expect([`${answer.status}`, headers["x-request-id"]]).toEqual([status, "mine"]);
});
