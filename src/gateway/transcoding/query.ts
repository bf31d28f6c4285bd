/**
 * URL queries: raw text to decoded name-value pairs.
 *
 * Parsed like URLSearchParams (https://url.spec.whatwg.org/#urlencoded-parsing): "&" separates
 * pairs, empty ones are skipped, the first "=" ends the name, "+" is a space. Unlike there, text
 * that is not percent-encoded UTF-8 is an error, and not replaced by U+FFFD: a damaged value is
 * not taken for another one.
 */
import { quote } from "../../quote.ts";
import { RequestError } from "./request-error.ts";

/** Characters allowed in a query: RFC 3986's, and the few that clients do not encode. */
const PRINTABLE = /^[\x21-\x7e]*$/;

/**
 * Calls `visit` for each pair, in order. Throws a `RequestError` that names the parameter if a pair
 * cannot be decoded, and whatever `visit` throws.
 */
export function forEachParameter(
  query: string,
  visit: (name: string, value: string) => void,
): void {
  for (let start = 0; start < query.length; ) {
    const ampersand = query.indexOf("&", start);
    const end = ampersand === -1 ? query.length : ampersand;
    if (end > start) {
      const pair = query.slice(start, end);
      const equals = pair.indexOf("=");
      const rawName = equals === -1 ? pair : pair.slice(0, equals);
      const name = decode(rawName, rawName);
      visit(name, equals === -1 ? "" : decode(pair.slice(equals + 1), name));
    }
    start = end + 1;
  }
}

function decode(raw: string, parameter: string): string {
  if (!PRINTABLE.test(raw)) throw decodingError(raw, parameter);
  const spaced = raw.includes("+") ? raw.replaceAll("+", " ") : raw;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw decodingError(raw, parameter);
  }
}

function decodingError(raw: string, parameter: string): RequestError {
  return new RequestError(
    `query parameter ${quote(parameter)}: expected percent-encoded UTF-8 (RFC 3986), got ${quote(raw)}`,
  );
}
