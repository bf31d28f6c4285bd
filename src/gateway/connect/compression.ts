/**
 * The compression of Connect and gRPC-Web: gzip, at the level of all responses, and once for callers that get
 * the same bytes, because Connect-ES serializes for each of them.
 */
import { hash } from "node:crypto";
import { compressionGzip } from "@connectrpc/connect-node";
import { LRUCache } from "lru-cache";
import { compress, FASTEST } from "../compression.ts";

/** How many bytes of responses, before compression, have their result kept. */
const MAX_KEPT = 16 * 1024 * 1024;

const results = new LRUCache<string, Promise<Buffer<ArrayBuffer>>>({ maxSize: MAX_KEPT });

/** For the option `acceptCompression` of Connect-ES. It keeps the results of the last bytes, by their SHA-256. */
export const sharedGzip = {
  ...compressionGzip,
  compress(bytes: Uint8Array): Promise<Buffer<ArrayBuffer>> {
    const key = hash("sha256", bytes, "base64url");
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compress(bytes, "gzip", FASTEST);
    results.set(key, result, { size: bytes.length });
    result.catch(() => results.delete(key));
    return result;
  },
};
