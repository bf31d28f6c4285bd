/**
 * One exchange at a time on each HTTP/1.1 connection. RFC 9112, section 9.3.2: responses are sent
 * in the order of the requests.
 *
 * Node calls the handler of every pipelined request as soon as it is parsed, and reports a malformed
 * one while earlier ones are still running. Here a request waits until the response before it has
 * been sent, and the connection is not read meanwhile. So a connection holds one response in memory,
 * and an error is sent last.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many parsed requests may wait on a connection. Node parses a whole chunk (64 KiB) at once. */
const MAX_WAITING = 100;

/** The queue of one connection. */
export interface ExchangeQueue {
  /** Handles a request as soon as the responses before it have been sent. */
  add(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /**
   * Rejects the connection: calls `write`, which writes the last response to the socket, as soon as
   * the responses before it have been sent. Requests after it are dropped. If the error is in the
   * body of a request whose response has begun, the connection is closed without a response.
   */
  reject(write: () => void): void;
  /** Closes the connection as soon as the responses to its requests so far have been sent. */
  drain(): void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: () => void;
}

/**
 * Makes the queue of a connection.
 *
 * @param timeout the longest exchange in ms, until the client has received the last byte
 * @param overflow writes the last response of a connection on which too many requests wait
 */
export function createExchangeQueue(
  socket: Socket,
  timeout: number,
  overflow: () => void,
): ExchangeQueue {
  let current: Exchange | undefined;
  let latest: Exchange | undefined;
  let waiting: Exchange[] = [];
  let last: (() => void) | undefined;
  let closed = false;
  socket.once("close", () => {
    closed = true;
    waiting = [];
  });

  function next(): void {
    current = waiting.shift();
    if (closed) return;
    if (current !== undefined) run(current);
    else if (last !== undefined) last();
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

  /** Runs `action` instead of further requests, after those that were added. */
  function end(action: () => void): void {
    if (last !== undefined) return;
    last = action;
    if (current === undefined) action();
  }

  function reject(write: () => void): void {
    // An incomplete request is the malformed one: it gets one response at most.
    if (last === undefined && latest?.request.complete === false && waiting.pop() === undefined) {
      last = write;
      if (latest.response.headersSent) socket.destroy();
      else write();
    } else {
      end(write);
    }
  }

  return {
    add(request, response, handle) {
      if (closed || last !== undefined) return;
      const exchange = { request, response, handle };
      if (current === undefined) {
        current = latest = exchange;
        run(exchange);
      } else if (waiting.length < MAX_WAITING) {
        latest = exchange;
        waiting.push(exchange);
        socket.pause();
      } else {
        reject(overflow);
      }
    },
    reject,
    drain: () => end(() => socket.destroySoon()),
  };
}
