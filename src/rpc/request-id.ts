/**
 * The id of a request: what its log line, its answer and its caller call it by.
 */
import { randomUUID } from "node:crypto";

/** An id that can stand in a header, a log line and a shell command as it is; an API key is none. */
const SANE = /^(?!.*rvk_)[A-Za-z0-9._:+=/-]{1,128}$/i;

/**
 * The id that a request came with in `x-request-id`, where there is exactly one and it is
 * sane; otherwise a new one, a random UUID. An array holds one item for each time that the
 * header was sent; a string is what Node made of it (several values, joined by ", ").
 */
export function requestIdFrom(value: string | undefined | readonly string[]): string {
  const id = typeof value === "object" ? only(value) : value;
  return id !== undefined && SANE.test(id) ? id : randomUUID();
}

function only(values: readonly string[]): string | undefined {
  return values.length === 1 ? values[0] : undefined;
}
