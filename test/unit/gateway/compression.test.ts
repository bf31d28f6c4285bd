/** Compression of responses, as its callers see it and as libuv does. */
import { createHook } from "node:async_hooks";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeEach, expect, it } from "vitest";
import { BEST, compress } from "../../../src/gateway/compression.ts";
import { sharedGzip } from "../../../src/gateway/connect/compression.ts";

/** How many compressions have begun. */
let begun = 0;
const hook = createHook({ init: (_id, type) => void (type === "ZLIB" && begun++) }).enable();
afterAll(() => void hook.disable());
beforeEach(() => {
  begun = 0;
});

const text = (seed: string) => Buffer.from(seed.repeat(200_000));

it("two bodies are compressed at once, and the others wait", async () => {
  const results = ["a", "b", "c", "d", "e"].map((seed) => compress(text(seed), "gzip", BEST));
  await Promise.resolve();
  await Promise.resolve();
  expect(begun).toBe(2);
  const bodies = await Promise.all(results);
  expect(begun).toBe(5);
  expect(bodies.map((body) => gunzipSync(body).toString("latin1", 0, 1)).join("")).toBe("abcde");
});

it("over Connect, equal bytes are compressed once, whoever asks", async () => {
  const { compress } = sharedGzip;
  const results = await Promise.all([compress(text("x")), compress(text("x"))]);
  expect(await compress(text("x"))).toBe(results[0]);
  expect(results[1]).toBe(results[0]);
  await compress(text("y"));
  expect(begun).toBe(2);
  expect(gunzipSync(results[0])).toEqual(text("x"));
});
