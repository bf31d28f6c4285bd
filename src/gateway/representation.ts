/**
 * What is sent with status 200, and how: 304 to a client that has it already (`If-None-Match`),
 * compressed to one that asks for that. Coalesced calls share a representation.
 */
import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Log } from "../telemetry/log.ts";
import { compress, type Levels } from "./compression.ts";
import { type Coding, chooseCoding } from "./negotiation.ts";
import type { Body, HttpResponse } from "./response.ts";

/** The bytes of a response. */
export interface Representation {
  readonly contentType: string;
  readonly body: Buffer;
  /**
   * A weak entity tag (RFC 9110, section 8.8.1), because it is the same for each compression. Equal
   * tags mean equal bytes: it holds 128 bits of their SHA-256.
   */
  readonly etag: string;
  /** The compressed bytes, which are kept. Rejects if they cannot be made; the next call tries again. */
  compressed(coding: Coding): Promise<Buffer>;
}

/** Creates the representation of a text or of bytes. */
export function createRepresentation(
  content: string | Buffer,
  contentType: string,
  levels: Levels,
): Representation {
  const body = typeof content === "string" ? Buffer.from(content) : content;
  const results = new Map<Coding, Promise<Buffer>>();
  const compressOnce = async (coding: Coding) => {
    try {
      return await compress(body, coding, levels);
    } catch (error) {
      results.delete(coding);
      throw error;
    }
  };
  return {
    contentType,
    body,
    etag: `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`,
    compressed: (coding) => results.getOrInsertComputed(coding, compressOnce),
  };
}

/**
 * The response to a request for a representation.
 *
 * @param headers further headers, also of a 304
 */
export async function representationResponse(
  representation: Representation,
  request: Pick<FastifyRequest, "headers" | "id">,
  headers: Readonly<Record<string, string>>,
  log: Log,
): Promise<HttpResponse<Body>> {
  const { contentType, body, etag, compressed } = representation;
  const shared = { vary: "accept-encoding", ...headers, etag };
  const known = request.headers["if-none-match"];
  if (known !== undefined && matchesTag(known, etag)) {
    return { status: 304, headers: shared, body: undefined };
  }
  const plain = { status: 200, headers: { ...shared, "content-type": contentType }, body };
  const coding = chooseCoding(request.headers["accept-encoding"]?.toString(), body.length);
  if (coding === undefined) return plain;
  try {
    const bytes = await compressed(coding);
    return { ...plain, headers: { ...plain.headers, "content-encoding": coding }, body: bytes };
  } catch (error) {
    log.error({ requestId: request.id, coding, err: error }, "cannot compress the response");
    return plain;
  }
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
