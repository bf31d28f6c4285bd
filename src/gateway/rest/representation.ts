/**
 * A response in the form in which it is sent: its bytes, their entity tag, and the bytes of each
 * compression that a client asked for. Coalesced calls share it.
 */
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import type { Coding } from "./negotiation.ts";

/** The smallest body that is compressed, in bytes. Compressing a smaller one takes longer than sending it. */
export const MIN_COMPRESSED_BYTES = 1024;

/** The fastest level of each: at 100 Mbit/s, each takes less time than it saves. */
const COMPRESS: Readonly<Record<Coding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (body) =>
    promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: (body) => promisify(gzip)(body, { level: 1 }),
};

/** The bytes of a response. */
export interface Representation {
  readonly body: Buffer;
  /**
   * A weak entity tag (RFC 9110, section 8.8.1), because it is the same for each compression. Equal
   * tags mean equal bytes: it holds 128 bits of their SHA-256.
   */
  readonly etag: string;
  /** The compressed bytes. */
  compressed(coding: Coding): Promise<Buffer>;
}

/** Creates the representation of a text. */
export function createRepresentation(text: string): Representation {
  const body = Buffer.from(text);
  const compressed = new Map<Coding, Promise<Buffer>>();
  return {
    body,
    etag: `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`,
    compressed: (coding) => compressed.getOrInsertComputed(coding, () => COMPRESS[coding](body)),
  };
}

/**
 * Whether a value of `If-None-Match` has the tag, by weak comparison. A proxy may have made a weak
 * tag of a strong one, or the other way round.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-if-none-match
 */
export function matchesTag(ifNoneMatch: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").map(opaque).includes(opaque(etag));
}
