/**
 * The compression of Connect and gRPC-Web: gzip in both directions, and Brotli of responses alone. At the level of
 * all responses in place of Connect-ES's, which is Brotli's highest, and once for callers that get the same
 * bytes. Connect-ES serializes for each of them.
 */
import { hash } from "node:crypto";
import { compressionGzip } from "@connectrpc/connect-node";
import { LRUCache } from "lru-cache";
import { compress, FASTEST } from "../compression.ts";
import type { Coding } from "../negotiation.ts";

/** How many bytes of responses, before compression, have their result kept. */
const MAX_KEPT = 16 * 1024 * 1024;

/** For the option `acceptCompression` of Connect-ES. */
export const connectCompressions = [
  { ...compressionGzip, compress: cached("gzip") },
  // A request that names it is refused before (request-check.ts).
  {
    name: "br",
    compress: cached("br"),
    decompress: () => Promise.reject(new Error("unreachable")),
  },
] as const;

/** Compresses bytes, and keeps the results of the last ones, by their SHA-256. */
function cached(coding: Coding) {
  const results = new LRUCache<string, Promise<Buffer<ArrayBuffer>>>({ maxSize: MAX_KEPT });
  return (bytes: Uint8Array): Promise<Buffer<ArrayBuffer>> => {
    const key = hash("sha256", bytes, "base64url");
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compress(bytes, coding, FASTEST);
    results.set(key, result, { size: bytes.length });
    result.catch(() => results.delete(key));
    return result;
  };
}
