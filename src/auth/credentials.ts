/**
 * Reads the API key from a request's headers or metadata. The key comes in exactly one of
 * two ways (spec, section 5): `X-API-Key: <key>` or `Authorization: Bearer <key>`.
 */
import { type ApiKey, parseKey } from "./api-key.ts";

/**
 * The values of the two headers (or metadata entries) that may carry an API key, as they
 * came: one item for each time that the header was sent, an empty value included.
 */
export interface Credentials {
  readonly xApiKey: readonly string[];
  readonly authorization: readonly string[];
}

/** A field's value without the white space around it, which is no part of it: RFC 9110 §5.5. */
const PLAIN = /^[ \t]*([^ \t]+)[ \t]*$/;
/** `credentials = auth-scheme 1*SP token68`, the scheme in any case: RFC 9110 §11.1, §11.4; RFC 6750 §2.1. */
const BEARER = /^[ \t]*bearer +([^ \t]+)[ \t]*$/i;

/**
 * The key that a request carries, or undefined where it carries none: neither header,
 * both, one of them twice, another scheme, a text that is no key.
 */
export function readCredentials(credentials: Credentials): ApiKey | undefined {
  const { xApiKey, authorization } = credentials;
  if (xApiKey.length + authorization.length !== 1) return undefined;
  const [plain] = xApiKey;
  const [bearer] = authorization;
  const text = plain === undefined ? BEARER.exec(bearer ?? "")?.[1] : PLAIN.exec(plain)?.[1];
  return text === undefined ? undefined : parseKey(text);
}
