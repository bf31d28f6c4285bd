/**
 * The status of a response that Connect-ES writes. Connect-ES has one status for each code: 429 for
 * `resource_exhausted`, which tells the client to retry, also if the message is too large.
 *
 * @see https://connectrpc.com/docs/protocol/#error-codes (clients read the code in the body)
 */
import type { ServerResponse } from "node:http";

const statuses = new WeakMap<ServerResponse, number>();

/** Sets the status that `writeHead` will use instead of the given one. */
export function setStatus(response: ServerResponse, status: number): void {
  statuses.set(response, status);
}

/** The status that was set for a response, if any. */
export function statusOf(response: ServerResponse): number | undefined {
  return statuses.get(response);
}
