/** The key of page tokens: one in the database for all instances and restarts, and what a start says without it. */
import { expect, it } from "vitest";
import { readPageTokenKey } from "../../../src/db/page-token-key.ts";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile();

it("is the one that is stored; without one there is none, and what the message says makes one", async () => {
  const { knex } = database;
  const key = await readPageTokenKey(knex);
  expect(key).toHaveLength(32);
  expect(await readPageTokenKey(knex)).toEqual(key);
  const other = Buffer.alloc(32, "another");
  await knex("page_token_keys").update({ secret: other });
  expect(await readPageTokenKey(knex)).toEqual(other);

  await knex("page_token_keys").del();
  const { message } = await readPageTokenKey(knex).catch((error) => error);
  const [what, statement] = message.split(": ");
  expect(what).toBe("page_token_keys has no row with the provider_id 0");
  await knex.raw(statement);
  expect(await readPageTokenKey(knex)).toHaveLength(32);
});
