import { describe, expect, it } from "vitest";
import { requestIdFrom } from "../../../src/rpc/request-id.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("the x-request-id of a request", () => {
  it.each([
    "a",
    "7f3e9c1e-2d5a-4c41-9a0b-1b1f6a0f6d11",
    "Root=1-67891233-abcdef012345678912345678",
    "trace:span/0.1+a_b==",
    "x".repeat(128),
  ])("%s is kept", (id) => {
    expect(requestIdFrom(id)).toBe(id);
    expect(requestIdFrom([id])).toBe(id);
  });

  it.each([
    ["", "empty"],
    ["a b", "two words"],
    ["a, b", "two values, joined by Node"],
    ["x".repeat(129), "too long"],
    ["a\r\nset-cookie: b", "another header"],
    ['a"b', "a quotation mark"],
    ["<script>", "markup"],
    ["ä", "not ASCII"],
  ])("%j (%s) is replaced by a random UUID", (id) => {
    expect(requestIdFrom(id)).toMatch(UUID);
    expect(requestIdFrom([id])).toMatch(UUID);
  });
});

describe("a request without a request id, or with several,", () => {
  it.each([[undefined], [[]], [["a", "a"]]])("(%j) gets a random UUID", (values) => {
    expect(requestIdFrom(values)).toMatch(UUID);
  });

  it("gets a different one each time", () => {
    const ids = Array.from({ length: 10 }, () => requestIdFrom(undefined));
    expect(new Set(ids).size).toBe(10);
  });
});
