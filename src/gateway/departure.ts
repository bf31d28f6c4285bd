/**
 * A caller's departure: the connection closes before the answer is out.
 */
import type { ServerResponse } from "node:http";
import { Failure } from "../failure.ts";

/**
 * A signal that aborts, with a `canceled` Failure, when the client goes away before the
 * response is finished. It listens to the response alone, so that a kept-alive connection
 * collects no listeners.
 */
export function departureOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort(new Failure("canceled"));
  });
  return controller.signal;
}
