/** Statements of several queries: docs/sql has what they compile to. */
import { expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { compileStatement } from "../../../src/db/statement.ts";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile();

it("a parameter without a value is an error, and nothing is sent", async () => {
  const servers = { select: { id: "id" }, from: "servers WHERE provider_id = :povider" };
  const run = compileStatement({ servers }, "servers").run(() => expect.unreachable(), {
    provider: "7",
  });
  await expect(run).rejects.toThrow("parameter :povider of servers has no value");
});

it("a query that is undefined is left out of the statement, and has no rows", async () => {
  const one = { select: { wallets: "COUNT(*)" }, from: "wallets WHERE provider_id = :provider" };
  const statement = compileStatement({ one, none: undefined, two: one }, "wallets");
  expect(statement.sql.match(/^UNION ALL \(SELECT \d/gm)).toEqual(["UNION ALL (SELECT 1"]);
  const { signal } = new AbortController();
  const read = createRead(database.knex);
  const { rows } = await read(({ query }) => statement.run(query, { provider: "7" }), { signal });
  expect(rows).toMatchObject({ one: [{ wallets: "0" }], none: [], two: [{ wallets: "0" }] });
});
