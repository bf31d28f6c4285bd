/**
 * Compression of what is sent, in any protocol. It runs in the threads of libuv, of which there are four, and
 * which also look up host names and read files: so only two compress at a time, in the whole process.
 */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import limitConcurrency from "p-limit";
import type { Coding } from "./negotiation.ts";

/** A compression level for each coding. */
export type Levels = Readonly<Record<Coding, number>>;

/** For responses: at 100 Mbit/s, each takes less time than it saves. */
export const FASTEST: Levels = { br: 1, zstd: 1, gzip: 1 };

/** For files, which are compressed once. Higher levels save up to 10 %, in 10 to 30 times the time. */
export const BEST: Levels = { br: 9, zstd: 12, gzip: 9 };

const MAX_AT_ONCE = 2;
const inTurn = limitConcurrency(MAX_AT_ONCE);

type Compress = (body: Uint8Array, level: number) => Promise<Buffer<ArrayBuffer>>;

const COMPRESS: Readonly<Record<Coding, Compress>> = {
  br: (body, level) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: level } }),
  zstd: (body, level) =>
    promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: level } }),
  gzip: (body, level) => promisify(gzip)(body, { level }),
};

/** Compresses bytes. Waits while two others are compressed. Rejects if it cannot be done. */
export function compress(
  body: Uint8Array,
  coding: Coding,
  levels: Levels,
): Promise<Buffer<ArrayBuffer>> {
  return inTurn(COMPRESS[coding], body, levels[coding]);
}
