/**
 * Reads the API key from the headers or the metadata of a call. The key comes in exactly one of
 * `X-API-Key: <key>` and `Authorization: Bearer <key>`. A third one names the provider (provider.ts).
 */
import { type ApiKey, parseKey } from "./api-key.ts";

/**
 * The values of the headers (or metadata entries) that say who calls, and about whom, unparsed: one item
 * per occurrence of the header, empty values included.
 */
export interface Credentials {
  readonly xApiKey: readonly string[];
  readonly authorization: readonly string[];
  readonly xProviderId: readonly string[];
}

/** A field value; surrounding white space is not part of it: RFC 9110 §5.5. */
const PLAIN = /^[ \t]*([^ \t]+)[ \t]*$/;
/** `credentials = auth-scheme 1*SP token68`, the scheme case-insensitive: RFC 9110 §11.1, §11.4; RFC 6750 §2.1. */
const BEARER = /^[ \t]*bearer +([^ \t]+)[ \t]*$/i;

/**
 * Returns the key of a call, or undefined if there is no well-formed one: neither header is
 * present, both are, one is repeated, the scheme is not Bearer, or the value is not a key.
 */
export function readCredentials(
  credentials: Pick<Credentials, "xApiKey" | "authorization">,
): ApiKey | undefined {
  const { xApiKey, authorization } = credentials;
  if (xApiKey.length + authorization.length !== 1) return undefined;
  const [plain] = xApiKey;
  const [bearer] = authorization;
  const text = plain === undefined ? BEARER.exec(bearer ?? "")?.[1] : PLAIN.exec(plain)?.[1];
  return text === undefined ? undefined : parseKey(text);
}
