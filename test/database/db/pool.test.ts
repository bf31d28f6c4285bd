import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { connectTo, testPool } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { databaseOfFile } from "../file-database.ts";
import { openConnections, operation, outcomeOf, single } from "./reads.ts";

const database = await databaseOfFile();
const readOnly = testPool(database.url, { readOnly: true });
afterAll(() => readOnly.destroy());

it("on a read-only pool the server refuses to write", async () => {
  for (const write of ["INSERT INTO providers (name) VALUES ('x')", "CREATE TABLE more (id INT)"]) {
    await expect(readOnly.raw(write)).rejects.toMatchObject({
      code: "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
    });
  }
});

it("a connection is replaced when it has reached its longest life", async () => {
  const knex = testPool(database.url, { maxLifetime: 200 });
  const idOf = async (pool: Knex) => {
    const [[row]] = await pool.raw("SELECT CONNECTION_ID() AS id");
    return row.id;
  };
  const first = await idOf(knex);
  await expect.poll(() => idOf(knex)).not.toBe(first);
  await knex.destroy();
  expect(await idOf(readOnly)).toBe(await idOf(readOnly));
});

it("a connection that the pool has closed may fail later without ending the process", async () => {
  const knex = testPool(database.url);
  const connection = await knex.client.acquireConnection();
  knex.client.releaseConnection(connection);
  await knex.destroy();
  await sleep(20); // Knex removes its listeners after the connection is closed
  // As if the host were gone: without a listener this is an uncaught exception.
  connection.stream.emit("error", Object.assign(new Error("late"), { code: "EHOSTUNREACH" }));
});

describe("an account that may have fewer connections than the pool", () => {
  const ALLOWED = 3;
  const account = `few_${randomBytes(6).toString("hex")}`;
  const url = Object.assign(new URL(database.url), { username: account, password: account });
  const admin = () => connectTo(database.url);
  beforeAll(async () => {
    const server = await admin();
    await server.query(
      `CREATE USER ${account} IDENTIFIED BY '${account}' WITH MAX_USER_CONNECTIONS ${ALLOWED}`,
    );
    await server.query(`GRANT SELECT ON ${database.name}.* TO ${account}`);
    await server.end();
  });
  afterAll(async () => {
    const server = await admin();
    await server.query(`DROP USER ${account}`);
    await server.end();
  });
  const { signal } = new AbortController();

  it("has reads that get none refused as overloaded, and not as an error, until there are some again", async () => {
    const held = testPool(url.href, { maxConnections: ALLOWED });
    // The server may still count those of the test before.
    const open = () =>
      openConnections(held, ALLOWED).then(
        () => true,
        () => false,
      );
    await until(open);
    const pool = testPool(url.href, { readOnly: true });
    const read = single(createRead(pool));
    const readOne = () => outcomeOf(read("SELECT '1'", [], { signal, operation }));
    expect(await Promise.all(Array.from({ length: 20 }, readOne))).toEqual(
      Array(20).fill("overloaded"),
    );
    await held.destroy();
    await expect.poll(readOne).toEqual([["1"]]);
    await pool.destroy();
  });
});
