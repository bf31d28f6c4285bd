/**
 * Content negotiation: which form of a response, and which compression, a client asks for.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-content-negotiation
 */
import Negotiator from "negotiator";

/** The media types of a response. */
export type MediaType = "application/json" | "text/csv";

/** The content codings of a response, in the order of preference for equal weights. */
const CODINGS = ["br", "zstd", "gzip"] as const;

/** A content coding. */
export type Coding = (typeof CODINGS)[number];

/**
 * The smallest body that is compressed, in bytes, unless the client refuses it uncompressed.
 * Compressing a smaller one takes longer than sending it.
 */
export const MIN_COMPRESSED_BYTES = 1024;

/** A longer header is not parsed, in characters: it counts as absent. */
const MAX_LENGTH = 1_024;

/** A parameter of a media type other than its weight. Every form has one charset, so it is ignored. */
const PARAMETER = /;(?!\s*q\s*=)[^;,"]+(?:"[^"]*")?/gi;

/**
 * The media type for a value of `Accept`: of those offered, the one with the highest weight; the
 * first of equals. Undefined if the client accepts none of them.
 */
export function chooseMediaType(
  accept: string | undefined,
  offered: readonly MediaType[],
): MediaType | undefined {
  if (!accept || accept === "*/*" || accept === "application/json") return offered[0];
  if (accept.length > MAX_LENGTH) return offered[0];
  const negotiator = new Negotiator({ headers: { accept: accept.replace(PARAMETER, "") } });
  return negotiator.mediaType(offered) as MediaType | undefined;
}

/**
 * The coding for a value of `Accept-Encoding` and a body of `size` bytes; undefined for none. A
 * client that allows no coding at all (`*;q=0`) gets none too: RFC 9110 leaves that to the server.
 */
export function chooseCoding(acceptEncoding: string | undefined, size: number): Coding | undefined {
  if (!acceptEncoding || acceptEncoding === "identity") return undefined;
  if (acceptEncoding.length > MAX_LENGTH) return undefined;
  const negotiator = new Negotiator({ headers: { "accept-encoding": acceptEncoding } });
  if (size < MIN_COMPRESSED_BYTES && negotiator.encoding(["identity"])) return undefined;
  // Without `preferred`, the client's order would decide between equals. The types lack it.
  const choose: (offered: readonly string[], options?: object) => string | undefined =
    negotiator.encoding.bind(negotiator);
  const chosen = choose([...CODINGS, "identity"], { preferred: CODINGS });
  return CODINGS.find((coding) => coding === chosen);
}
