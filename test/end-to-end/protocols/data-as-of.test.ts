/** `data-as-of`: every answer tells the instant of its snapshot, in every protocol. */
import { toBinary } from "@bufbuild/protobuf";
import { Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { methodOf, requestMessage } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { poll } from "../../support/poll.ts";
import { type MethodName, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const METHODS: readonly MethodName[] = ["GetOverview", "GetServerBreakdown"];
const CASES = FAST_CLIENTS.flatMap((client) => METHODS.map((method) => [client, method] as const));
const FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Makes a call and returns the text of `data-as-of`, or the outcome if it failed. */
async function asOf({ clients, key }: Fixture, client: string, method: MethodName) {
  const outcome = await clients.get(client).call({ method, headers: withKey(key) });
  return "response" in outcome ? (outcome.headers["data-as-of"] ?? "") : outcome;
}

describe("without a limit on the age of answers", () => {
  let fixture: Fixture;
  let newest = "";
  beforeAll(async () => {
    fixture = await createFixture(smallLedger);
  });
  afterAll(() => fixture?.dispose());

  /** The database's clock, in the same format. */
  async function clock(): Promise<string> {
    const [[{ now }]] = await fixture.database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
    return `${now.replace(" ", "T")}Z`;
  }

  it.each(CASES)("%s, %s: it is the database's time during the call", async (client, method) => {
    const before = await clock();
    const given = await asOf(fixture, client, method);
    expect(given).toMatch(FORMAT);
    expect([before, given, await clock()].toSorted()[1]).toBe(given);
    expect(newest <= `${given}`).toBe(true);
    newest = `${given}`;
  });

  it("gRPC sends it as a trailer", async () => {
    const client = grpcClient(fixture.service.grpc);
    const { parent, name, input } = methodOf("GetOverview");
    const metadata = new Metadata();
    for (const [header, value] of withKey(fixture.key)) metadata.set(header, value);
    const received = await new Promise<Record<string, readonly string[]>>((resolve) => {
      const names: Record<string, readonly string[]> = {};
      client
        .makeUnaryRequest(
          `/${parent.typeName}/${name}`,
          (message: ReturnType<typeof requestMessage>) => Buffer.from(toBinary(input, message)),
          (bytes) => bytes,
          requestMessage({ method: "GetOverview" }),
          metadata,
          () => {},
        )
        .on("metadata", (headers) => {
          names.headers = Object.keys(headers.getMap());
        })
        .on("status", (status) => {
          resolve({ ...names, trailers: Object.keys(status.metadata.getMap()) });
        });
    });
    client.close();
    expect(received.trailers).toContain("data-as-of");
    expect(received.headers).not.toContain("data-as-of");
  });
});

describe("with a limit", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture(smallLedger, { DATABASE_READ_MAX_LAG_MS: "3600000" });
  });
  afterAll(() => fixture?.dispose());

  it("an answer without a heartbeat is not given, and the log says what to run", async () => {
    expect(await asOf(fixture, "REST", "GetOverview")).toMatchObject({ code: "500" });
    const line = await poll(5_000, () =>
      fixture.service.log().find(({ reason }) => reason === "databaseUnavailable"),
    );
    expect(JSON.stringify(line)).toContain("npm run rollup -- --watch");
  });

  it.each(CASES)("%s, %s: it is the time of the heartbeat", async (client, method) => {
    await fixture.database.knex.raw(
      "REPLACE INTO heartbeat VALUES (1, UTC_TIMESTAMP(3) - INTERVAL 1 SECOND)",
    );
    const { written_at } = await fixture.database.knex("heartbeat").first();
    expect(await asOf(fixture, client, method)).toBe(`${written_at.replace(" ", "T")}Z`);
  });
});
