/**
 * One exchange at a time on each HTTP/1.1 connection (RFC 9112, section 9.3.2: responses are sent
 * in the order of the requests). Node calls the handler of every pipelined request as soon as it is
 * parsed, and reports a malformed one while earlier ones are still being answered. Here each waits
 * until the response before it has been sent, and the connection is not read meanwhile. So a
 * connection holds one response in memory, and an error is sent last.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many parsed requests may wait on a connection; Node parses a whole chunk (64 KiB) at once. */
const MAX_WAITING = 100;

/** The queue of one connection. */
export interface ExchangeQueue {
  /** Handles a request as soon as the responses before it have been sent. */
  add(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /**
   * Ends the connection: calls `refuse`, which writes the last answer to the socket, as soon as
   * the responses before it have been sent. What comes after it is dropped. If the fault lies in
   * the body of a request whose response has begun, closes the connection without an answer.
   */
  end(refuse: () => void): void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: () => void;
}

/**
 * Makes the queue of a connection.
 *
 * @param timeout the longest exchange, from its turn to the last byte taken by the client, in ms
 * @param overflow writes the last answer of a connection on which too many requests wait
 */
export function createExchangeQueue(
  socket: Socket,
  timeout: number,
  overflow: () => void,
): ExchangeQueue {
  let current: Exchange | undefined;
  let latest: Exchange | undefined;
  let waiting: Exchange[] = [];
  let ending: (() => void) | undefined;
  let closed = false;
  socket.once("close", () => {
    closed = true;
    waiting = [];
  });

  function next(): void {
    current = waiting.shift();
    if (closed) return;
    if (current !== undefined) run(current);
    else if (ending !== undefined) ending();
    else if (socket.isPaused()) socket.resume();
  }

  function run({ response, handle }: Exchange): void {
    const overdue = setTimeout(() => socket.destroy(), timeout);
    response.once("close", () => {
      clearTimeout(overdue);
      next();
    });
    handle();
  }

  function end(refuse: () => void): void {
    if (ending !== undefined) return;
    ending = refuse;
    // A request whose body has not arrived whole is the one at fault: it gets one answer at most.
    if (latest?.request.complete === false && waiting.pop() === undefined) {
      if (latest.response.headersSent) socket.destroy();
      else refuse();
    } else if (current === undefined) {
      refuse();
    }
  }

  return {
    add(request, response, handle) {
      if (closed || ending !== undefined) return;
      const exchange = { request, response, handle };
      latest = exchange;
      if (current === undefined) {
        current = exchange;
        run(exchange);
      } else if (waiting.length < MAX_WAITING) {
        waiting.push(exchange);
        socket.pause();
      } else {
        end(overflow);
      }
    },
    end,
  };
}
