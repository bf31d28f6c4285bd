/** The request id: identifies one call in the log, in the response headers and at the caller. */
import { randomUUID } from "node:crypto";

/** Safe in a header, a log line and a shell command as it is, and not an API key. */
const SAFE_ID = /^(?!.*rv[ks]_)[A-Za-z0-9._:+=/-]{1,128}$/i;

/**
 * Returns the caller's `x-request-id` if exactly one was sent and it is safe to repeat;
 * otherwise a new random UUID.
 *
 * @param value the header: an array has one item per occurrence; a string is what Node made of
 *   it, with several values joined by ", "
 */
export function requestIdFrom(value: string | undefined | readonly string[]): string {
  const [id, ...others] = typeof value === "object" ? value : [value];
  return id !== undefined && others.length === 0 && SAFE_ID.test(id) ? id : randomUUID();
}
