/** Compression of responses, as its callers see it and as libuv does. */
import { createHook } from "node:async_hooks";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { BEST, compress } from "../../../src/gateway/compression.ts";
import { connectCompressions } from "../../../src/gateway/connect/compression.ts";

/** Counts the compressions that begin. */
function countBegun() {
  let begun = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "ZLIB") begun++;
    },
  }).enable();
  onTestFinished(() => void hook.disable());
  return () => begun;
}

const text = (seed: string) => Buffer.from(seed.repeat(200_000));

it("two bodies are compressed at once, and the others wait", async () => {
  const begun = countBegun();
  const results = ["a", "b", "c", "d", "e"].map((seed) => compress(text(seed), "gzip", BEST));
  await Promise.resolve();
  await Promise.resolve();
  expect(begun()).toBe(2);
  const bodies = await Promise.all(results);
  expect(begun()).toBe(5);
  expect(bodies.map((body) => gunzipSync(body).toString("latin1", 0, 1)).join("")).toBe("abcde");
});

it("over Connect, equal bytes are compressed once, whoever asks, at the level of other responses", async () => {
  const begun = countBegun();
  for (const [{ compress }, decompress] of [
    [connectCompressions[0], gunzipSync],
    [connectCompressions[1], brotliDecompressSync],
  ] as const) {
    const before = begun();
    const results = await Promise.all([compress(text("x")), compress(text("x"))]);
    expect(await compress(text("x"))).toBe(results[0]);
    expect(results[1]).toBe(results[0]);
    await compress(text("y"));
    expect(begun() - before).toBe(2);
    expect(decompress(results[0])).toEqual(text("x"));
  }
});
