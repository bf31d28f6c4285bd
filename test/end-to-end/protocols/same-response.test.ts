/** Every protocol returns the same response to the same request, on the demo data. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { ALL_CLIENTS } from "../../support/clients/clients.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

const YEAR = new Date().getUTCFullYear();

const REQUESTS: readonly (readonly [string, RpcRequest])[] = [
  ["the overview", { method: "GetOverview" }],
  [
    "the breakdown of days",
    {
      method: "GetServerBreakdown",
      message: { startDate: `${YEAR - 1}-02-01`, endDate: `${YEAR - 1}-11-30` },
    },
  ],
  [
    "the breakdown of instants with offsets",
    {
      method: "GetServerBreakdown",
      message: {
        startDate: `${YEAR - 1}-01-01T05:30:00.250+05:30`,
        endDate: `${YEAR}-01-01T00:00:00Z`,
      },
    },
  ],
  [
    "the breakdown of one millisecond",
    {
      method: "GetServerBreakdown",
      message: {
        startDate: `${YEAR - 1}-06-01T00:00:00.001Z`,
        endDate: `${YEAR - 1}-06-01T00:00:00.001Z`,
      },
    },
  ],
];

/** A large provider, a small one, and one without charges. */
const PROVIDERS = ["1", "2", "3"];

let fixture: Fixture;
const keys = new Map<string, string>();
/** REST's response by provider and request, with which the others are compared. */
const references = new Map<string, unknown>();

beforeAll(async () => {
  fixture = await createFixture(({ knex }) => seed(knex, Date.now(), () => {}));
  for (const provider of PROVIDERS) {
    keys.set(provider, await fixture.issueKey(provider));
    for (const [name, request] of REQUESTS) {
      const outcome = await call("REST", provider, request);
      expect(outcome).toHaveProperty("response");
      references.set(`${provider} ${name}`, withoutHeaders(outcome));
    }
  }
});
afterAll(() => fixture?.dispose());

function call(client: string, provider: string, request: RpcRequest): Promise<Outcome> {
  const headers = withKey(keys.get(provider) ?? "");
  return fixture.clients.get(client).call({ ...request, headers });
}

describe.each(ALL_CLIENTS)("through %s", (client) => {
  it.each(REQUESTS)("%s is the same as through REST", async (name, request) => {
    // buf curl starts a process for each call: there one provider is enough.
    for (const provider of client.startsWith("buf") ? ["1"] : PROVIDERS) {
      const outcome = await call(client, provider, request);
      expect(withoutHeaders(outcome)).toEqual(references.get(`${provider} ${name}`));
    }
  });
});

it("each provider sees its own servers only", async () => {
  const others = new Set<string>();
  for (const provider of PROVIDERS) {
    const uuids: string[] = await fixture.database
      .knex("servers")
      .where("provider_id", provider)
      .pluck("uuid");
    const overview = JSON.stringify(references.get(`${provider} the overview`));
    expect(uuids.some((uuid) => overview.includes(uuid))).toBe(true);
    for (const uuid of others) expect(overview).not.toContain(uuid);
    for (const uuid of uuids) others.add(uuid);
  }
});
