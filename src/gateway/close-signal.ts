/**
 * A caller's closeSignal: the connection closes before the answer is out.
 */
import type { ServerResponse } from "node:http";
import { ServiceError } from "../errors.ts";

/**
 * A signal that aborts, with a `canceled` ServiceError, when the client goes away before the
 * response is finished. It listens to the response alone, so that a kept-alive connection
 * collects no listeners.
 */
export function closeSignalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort(new ServiceError("canceled"));
  });
  return controller.signal;
}
