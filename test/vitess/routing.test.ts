/** Each statement of a call is one statement on one shard, and vtgate plans it in a moment. */
import { expect, it } from "vitest";
import { keysByHash, MAX_BATCH } from "../../src/auth/key-lookup.ts";
import { createRead } from "../../src/db/query.ts";
import { bindingsOf, STATEMENT_NAMES, STATEMENTS } from "../support/statements.ts";
import { addProviders, openKeyspace, SHARDED } from "./keyspaces.ts";

/** What a statement may cost before the first answer, in ms. On a busy machine this is a lot. */
const FIRST = 3_000;

const VALUES = {
  provider: "96",
  start: "2026-10-01 00:00:00.000",
  end: "2026-10-31 23:59:59.999",
  watermark: "2026-10-20 00:00:00.000",
  first: "2026-10-02 00:00:00.000",
  last: "2026-10-19 00:00:00.000",
};

it.each(STATEMENT_NAMES)("%s", async (name) => {
  await using keyspace = await openKeyspace(SHARDED);
  await addProviders(keyspace, [96n]);
  const { sql } = STATEMENTS[name];
  const bindings = bindingsOf(STATEMENTS[name], VALUES);
  // vtgate keeps plans by the text of a statement: a comment makes it a new one.
  const unplanned = `${sql} /* ${crypto.randomUUID()} */`;
  const began = performance.now();
  const signal = AbortSignal.timeout(60_000);
  await createRead(keyspace.pool)(unplanned, bindings, { signal, operation: name });
  const took = performance.now() - began;
  console.log(`${name}: first answer after ${took.toFixed(0)} ms`);
  expect(took).toBeLessThan(FIRST);
  const [queries] = await keyspace.pool.raw(`VEXPLAIN QUERIES ${sql}`, bindings);
  expect(queries).toHaveLength(1);
});

it("a look-up of many keys is one statement, which needs no shard", async () => {
  await using keyspace = await openKeyspace(SHARDED);
  const hashes = Array.from({ length: MAX_BATCH }, (_, nth) => nth.toString(16).padStart(64, "0"));
  const [queries] = await keyspace.pool.raw(`VEXPLAIN QUERIES ${keysByHash(MAX_BATCH)}`, hashes);
  expect(queries).toMatchObject([{ keyspace: "shared" }]);
});
