/** The same question through every door gets the same answer, on data worth looking at. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import type { Outcome, RpcRequest } from "../../support/clients/client.ts";
import { CLIENTS } from "../../support/clients/clients.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

const YEAR = new Date().getUTCFullYear();

const QUESTIONS: readonly (readonly [string, RpcRequest])[] = [
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

/** The big provider, the small one, and the one that has earned nothing yet. */
const PROVIDERS = ["1", "2", "3"];

let fixture: Fixture;
const keys = new Map<string, string>();
/** What REST answered, by provider and question: the others are held against it. */
const references = new Map<string, Outcome>();

beforeAll(async () => {
  fixture = await createFixture(({ knex }) => seed(knex, Date.now(), () => {}));
  for (const provider of PROVIDERS) {
    keys.set(provider, await fixture.issue(provider));
    for (const [name, question] of QUESTIONS) {
      references.set(`${provider} ${name}`, await ask("REST", provider, question));
    }
  }
});
afterAll(() => fixture?.dispose());

function ask(door: string, provider: string, question: RpcRequest): Promise<Outcome> {
  const key = keys.get(provider) ?? "";
  return fixture.clients.named(door).call({ ...question, headers: withKey(key) });
}

describe.each(CLIENTS)("through %s", (door) => {
  it.each(QUESTIONS)("%s is the same as through REST", async (name, question) => {
    // A process for each call: one provider is enough there.
    for (const provider of door.startsWith("buf") ? ["1"] : PROVIDERS) {
      const { head: _, ...reference } = references.get(`${provider} ${name}`) ?? { head: {} };
      const { head: __, ...outcome } = await ask(door, provider, question);
      expect(Object.keys(reference)).toEqual(["answer"]);
      expect(outcome).toEqual(reference);
    }
  });
});

it("each provider is told of its own servers alone", async () => {
  const seen = new Set<string>();
  for (const provider of PROVIDERS) {
    const uuids: string[] = await fixture.database
      .knex("servers")
      .where("provider_id", provider)
      .pluck("uuid");
    const told = JSON.stringify(references.get(`${provider} the overview`));
    expect(uuids.some((uuid) => told.includes(uuid))).toBe(true);
    for (const uuid of seen) expect(told).not.toContain(uuid);
    for (const uuid of uuids) seen.add(uuid);
  }
});
