/**
 * A call whose caller cancels or whose deadline passes ends at once. Its query goes on in the database,
 * which ends it by itself.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { CLIENTS, DEADLINE_CLIENTS } from "../../support/clients/clients.ts";
import { until } from "../../support/poll.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable, type TableLock } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  // One provider gets half of the connections: enough that every call has one. After the time, the database
  // ends their queries.
  fixture = await createFixture(smallLedger, { DATABASE_POOL_SIZE: "40", MAX_CALL_MS: "5000" });
});
afterAll(() => fixture?.dispose());

interface HeldCall {
  readonly name: string;
  readonly requestId: string;
  /** The code; REST and fetch reject if the call is aborted. */
  readonly code: Promise<string>;
}

/** Starts a call through each client, each of another period, so that none shares a query. */
function startCalls(
  names: readonly string[],
  id: string,
  options: Pick<RpcRequest, "signal" | "timeout">,
): readonly HeldCall[] {
  return names.map((name, index) => {
    const requestId = `${id}-${name.replace(/\W+/g, "-")}`;
    const call = fixture.clients.get(name).call({
      method: "GetServerBreakdown",
      message: { startDate: `${2001 + index}-01-01` },
      headers: [...withKey(fixture.key), ["x-request-id", requestId]],
      ...options,
    });
    const code = call.then(
      (outcome) => ("code" in outcome ? outcome.code : "OK"),
      () => "aborted",
    );
    return { name, requestId, code };
  });
}

/** Starts calls that are all in the database at once. On a busy machine some end before: then others follow. */
async function holdCalls(
  lock: TableLock,
  names: readonly string[],
  id: string,
  options: (round: number) => Parameters<typeof startCalls>[2],
): Promise<readonly HeldCall[]> {
  for (let round = 1; ; round++) {
    const calls = startCalls(names, `${id}-${round}`, options(round));
    let ended = 0;
    for (const { code } of calls) code.then(() => ended++);
    await until(async () => ended > 0 || (await lock.queries()) >= calls.length);
    if (ended === 0) return calls;
    await Promise.all(calls.map(({ code }) => code));
    await lock.waitForQueries(0);
  }
}

async function expectCodes(calls: readonly HeldCall[], client: string[], log: string[]) {
  for (const { name, requestId, code } of calls) {
    expect(client, name).toContain(await code);
    const lines = await fixture.service.logOf(requestId);
    expect(lines, name).toHaveLength(1);
    expect(log, name).toContain(lines[0]?.code);
  }
}

// Comes first: queries that the other test leaves behind would be counted as its own.
it("a call that its caller cancels ends at once, in every protocol, and the database ends its query", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const caller = new AbortController();
  const calls = await holdCalls(lock, CLIENTS, "cancelled", () => ({
    signal: caller.signal,
  }));
  caller.abort();
  await expectCodes(calls, ["CANCELLED", "aborted"], ["CANCELLED"]);
  await lock.waitForQueries(0);
});

it("a call whose client's deadline passes ends at it, in every protocol with deadlines", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const calls = await holdCalls(lock, DEADLINE_CLIENTS, "late", (round) => ({
    timeout: 1_000 * round,
  }));
  await expectCodes(calls, ["DEADLINE_EXCEEDED"], ["DEADLINE_EXCEEDED", "CANCELLED"]);
});
