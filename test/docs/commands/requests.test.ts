/**
 * Each request in the documentation, pasted into a shell: it succeeds. The responses that are shown are those of the
 * OpenAPI document (test/docs/openapi.test.ts).
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { blockWith, commands, isRequest, named } from "../markdown.ts";
import { atPorts, HAS_CURL, paste } from "./terminal.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(({ knex }) => seed(knex, Date.now(), () => {}));
});
afterAll(() => fixture?.dispose());

/** What is in the response to a request whose response is not shown. */
const RESPONSES: readonly (readonly [command: RegExp, response: RegExp])[] = [
  [/\/GetOverview$/, /"recentPayouts": ?\[\s*\{/],
  [/\/GetServerBreakdown$/, /"servers": ?\[\s*\{/],
  [/\/charges\?/, /^\{"charges":\[\{"chargeId":"/],
  [/--list-methods /, /^revenue\.v1\.RevenueService\/GetOverview$/m],
  [/'Accept: text\/csv'/, /^serverId,serverName,.*\r\n[0-9a-f-]{36},/],
  [/\.Health\/Check$/, /"SERVING"/],
];

const requests = commands.filter(({ text }) => isRequest(text));

describe.skipIf(!HAS_CURL)("as pasted", () => {
  it.each(named(requests))("%s", async (_, { text, example }) => {
    const command = atPorts(text, fixture.service);
    expect(command).not.toMatch(/127\.0\.0\.1:(8080|50051)/);
    const { code, stdout, stderr } = await paste(command, { KEY: fixture.key });
    expect(code, stderr).toBe(0);
    if (example !== undefined) {
      const fields = (text: string) => Object.keys(JSON.parse(text));
      expect(fields(stdout)).toEqual(fields(example));
      return;
    }
    const [, response] = RESPONSES.find(([pattern]) => pattern.test(text)) ?? [];
    expect(stdout).toMatch(response ?? "no response is expected of this command");
  });
});

/** What the line that is shown tells of a call. */
interface Shown {
  readonly method: RpcRequest["method"];
  readonly asked: NonNullable<RpcRequest["message"]>;
}

it("the log line in docs/operations.md is the line of a real call", async () => {
  const shown: Record<string, unknown> = JSON.parse(blockWith("json", '"requestId"'));
  const requestId = String(shown.requestId);
  const headers = [...withKey(fixture.key), ["x-request-id", requestId] as const];
  const { method, asked } = shown as unknown as Shown;
  await fixture.clients.get("REST").call({ method, message: asked, headers });
  const [real = {}] = await fixture.service.logOf(requestId);
  expect(Object.keys(real)).toEqual(Object.keys(shown));
  // The time and the duration differ from call to call.
  expect({ ...real, time: shown.time, ms: shown.ms }).toEqual(shown);
});
