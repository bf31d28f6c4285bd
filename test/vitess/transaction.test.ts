/** The statements of a transaction read one snapshot, as the last try of an answer relies on. */

import { expect, it } from "vitest";
import { TIME_LIMIT } from "../../dev/time-limit.ts";
import { createRead } from "../../src/db/query.ts";
import { testPool } from "../support/database.ts";
import { addProviders, openKeyspace, SHARDED, UNSHARDED } from "./keyspaces.ts";

const PROVIDER = 98n;
const NAME = "SELECT name FROM providers WHERE id = ?";

it.each([UNSHARDED, SHARDED])("of keyspace %s", async (name) => {
  await using keyspace = await openKeyspace(name);
  await addProviders(keyspace, [PROVIDER]);
  const session = testPool(keyspace.url, { readOnly: true });
  const nameOf = await createRead(session)(
    async ({ query, transaction }) => {
      const read = () => query(NAME, [`${PROVIDER}`], "name");
      const inside = await transaction(async () => {
        const before = await read();
        await keyspace
          .pool("providers")
          .where({ id: `${PROVIDER}` })
          .update({ name: "renamed" });
        return [before, await read()];
      });
      return [...inside, await read()];
    },
    { signal: AbortSignal.timeout(TIME_LIMIT) },
  );
  await session.destroy();
  const old = [[`provider ${PROVIDER}`]];
  expect(nameOf).toEqual([old, old, [["renamed"]]]);
});
