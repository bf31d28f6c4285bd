/**
 * Connections that die without a sign, as if the host of the database had lost power: a statement on
 * one is given up when the server must have ended it, and those that were idle meanwhile with it.
 */
import { expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { until } from "../../support/poll.ts";
import { createReads, operation } from "./reads.ts";

/** After which time the server ends a statement, and half a second later its answer is given up, in ms. */
const MAX_STATEMENT = 500;
const OWNERS = ["0", "1", "2", "3", "4", "5"];

const reads = await createReads(OWNERS.length, { maxStatement: MAX_STATEMENT });
const { fillPool, readOne } = reads;
const ANSWERED = [["1"]];

it("when all pooled connections die one read waits until it is given up, and no other", async () => {
  const ids = await fillPool();
  reads.proxy.silence();
  expect(await readOne()).toEqual(ANSWERED);
  for (const answer of await Promise.all(OWNERS.map(readOne))) expect(answer).toEqual(ANSWERED);
  expect(reads.proxy.unanswered()).toBe(1);
  const after = await fillPool();
  expect(ids.filter((id) => after.includes(id))).toEqual([]);
});

it("a read whose caller leaves first tells the others", async () => {
  await fillPool();
  reads.proxy.silence();
  const caller = new AbortController();
  const result = reads.read("SELECT '1'", [], { signal: caller.signal, operation });
  await until(() => reads.proxy.unanswered() === 1);
  caller.abort(new ServiceError("deadlineExceeded"));
  await expect(result).rejects.toMatchObject({ kind: "deadlineExceeded" });
  await until(() => reads.proxy.connections() === OWNERS.length - 1);
  for (const answer of await Promise.all(OWNERS.map(readOne))) expect(answer).toEqual(ANSWERED);
  expect(reads.proxy.unanswered()).toBe(1);
});
