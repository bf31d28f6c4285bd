import { expect, it } from "vitest";
import { memoize } from "../../../src/rpc/memoize.ts";

it("each message is written once", () => {
  let count = 0;
  const write = memoize((message: { name: string }) => `${message.name} ${++count}`);
  const [one, other] = [{ name: "one" }, { name: "other" }];
  expect([write(one), write(other), write(one), write(other)]).toEqual([
    "one 1",
    "other 2",
    "one 1",
    "other 2",
  ]);
});

it("a message that cannot be written throws each time", () => {
  const write = memoize(() => {
    throw new Error("no number");
  });
  const message = {};
  expect(() => write(message)).toThrow("no number");
  expect(() => write(message)).toThrow("no number");
});
