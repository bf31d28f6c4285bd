/** The request id: a valid one is used, otherwise one is generated; it is in the response and in the log. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
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

describe.each(FAST_CLIENTS)("through %s", (name) => {
  /** The id in the response to a call with a given id. */
  async function responseId(
    given: string | undefined,
    key = fixture.key,
  ): Promise<string | undefined> {
    const { headers } = await fixture.clients.get(name).call({
      method: "GetOverview",
      headers: [
        ...withKey(key),
        ...(given === undefined ? [] : [["x-request-id", given] as const]),
      ],
    });
    return headers["x-request-id"];
  }

  it.each(["7", "Root=1-67891233-abcdef012345678912345678", "a".repeat(128)])(
    "a valid id that starts with %s is used",
    async (start) => {
      const id = start.length === 128 ? start : `${start}:${randomUUID()}`;
      expect(await responseId(id)).toBe(id);
    },
  );

  it.each([
    ["no id", undefined],
    ["an empty id", ""],
    ["an id with a space", "a b"],
    ["an id with quotes", '"a"'],
    ["an id that is too long", "a".repeat(129)],
    ["an id that is an API key", generateKey()],
  ])("for %s a new one is generated", async (_, given) => {
    expect(await responseId(given)).toMatch(UUID);
  });

  it("an error response has the id too", async () => {
    const id = randomUUID();
    expect(await responseId(id, "no key")).toBe(id);
  });

  it("the id is in exactly one line of the log", async () => {
    const id = randomUUID();
    await responseId(id);
    expect(await fixture.service.logOf(id)).toHaveLength(1);
  });
});

it("for two ids a new one is generated", async () => {
  const { headers } = await rawHttp(fixture.service.http, {
    target: "/api/provider/revenue",
    headers: [...withKey(fixture.key), ["x-request-id", "a"], ["x-request-id", "b"]],
  });
  expect(headers["x-request-id"]).toMatch(UUID);
});

it.each([
  ["404", "/nowhere"],
  ["405", "/revenue.v1.RevenueService/GetOverview"],
])("a response with %s has the id too", async (status, target) => {
  const { headers, ...response } = await rawHttp(fixture.service.http, {
    method: "DELETE",
    target,
    headers: [["x-request-id", "mine"]],
  });
  expect([`${response.status}`, headers["x-request-id"]]).toEqual([status, "mine"]);
});
