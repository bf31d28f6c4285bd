import { expect, it } from "vitest";
import { requestIdFrom } from "../../../src/rpc/request-id.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it.each(["Root=1-67891233-abcdef012345678912345678", "trace:span/0.1+a_b==", "x".repeat(128)])(
  "the id %s is kept",
  (id) => {
    expect([requestIdFrom(id), requestIdFrom([id])]).toEqual([id, id]);
  },
);

it.each<[string | string[] | undefined, string]>([
  [undefined, "no id"],
  [["a", "a"], "two, which are the same"],
  ["", "empty"],
  ["x".repeat(129), "too long"],
  ["a\r\nset-cookie: b", "another header"],
  ["ä", "not ASCII"],
  ["a:rvk_0", "the start of an API key"],
])("%j (%s) is replaced by a random UUID", (id) => {
  expect(requestIdFrom(id)).toMatch(UUID);
});
