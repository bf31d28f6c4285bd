/**
 * Credentials of an HTTP request: the two headers that may carry a key, each time they came.
 *
 * Node's `headers` would hide what the service must see: it keeps the first of two
 * `authorization` headers and joins two `x-api-key` headers into one value.
 *
 * @see https://nodejs.org/api/http.html#messageheaders
 */
import type { Credentials } from "../auth/credentials.ts";

const NONE: readonly string[] = [];

/** Reads the credentials from a message's `rawHeaders`: name, value, name, value … */
export function credentialsOf(rawHeaders: readonly string[]): Credentials {
  return {
    xApiKey: valuesOf(rawHeaders, "x-api-key"),
    authorization: valuesOf(rawHeaders, "authorization"),
  };
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  let values: string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index];
    if (header?.length === name.length && header.toLowerCase() === name) {
      values ??= [];
      values.push(rawHeaders[index + 1] ?? "");
    }
  }
  return values ?? NONE;
}
