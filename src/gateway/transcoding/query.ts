/**
 * The query of a URL: raw text to decoded pairs of name and value.
 *
 * As URLSearchParams takes it apart (https://url.spec.whatwg.org/#urlencoded-parsing): "&"
 * separates, empty pieces are skipped, the first "=" ends the name, "+" is a space. Unlike
 * it, what is not UTF-8 in percent-encoding is refused, not replaced by U+FFFD: a value
 * that arrives damaged must not be answered as if it were another.
 */
import { quote } from "./quote.ts";
import { RequestError } from "./request-error.ts";

/** What may stand in a query as it is: RFC 3986's characters and the few that clients leave bare. */
const PRINTABLE = /^[\x21-\x7e]*$/;

/**
 * Calls `take` for each pair, in order, until it throws. Throws
 * `RequestError`, naming the parameter, where a pair cannot be decoded.
 */
export function forEachParameter(query: string, take: (name: string, value: string) => void): void {
  for (let start = 0; start < query.length; ) {
    const ampersand = query.indexOf("&", start);
    const end = ampersand === -1 ? query.length : ampersand;
    if (end > start) {
      const piece = query.slice(start, end);
      const equals = piece.indexOf("=");
      const rawName = equals === -1 ? piece : piece.slice(0, equals);
      const name = decode(rawName, rawName);
      take(name, equals === -1 ? "" : decode(piece.slice(equals + 1), name));
    }
    start = end + 1;
  }
}

function decode(raw: string, parameter: string): string {
  if (!PRINTABLE.test(raw)) throw undecodable(raw, parameter);
  const spaced = raw.includes("+") ? raw.replaceAll("+", " ") : raw;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw undecodable(raw, parameter);
  }
}

function undecodable(raw: string, parameter: string): RequestError {
  return new RequestError(
    `query parameter ${quote(parameter)}: ${quote(raw)} is not percent-encoded UTF-8 (RFC 3986)`,
  );
}
