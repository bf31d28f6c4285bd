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
import { isEndless } from "./body.ts";
import { closeLingering } from "./lingering-close.ts";
import { dropRequests } from "./parser.ts";

/**
 * How long a response may be awaited after the client has half-closed the connection, in ms. A
 * half-close cannot be told from a close: clients that give up and go look like clients that have
 * sent all they wanted to send (`nc -N`).
 */
const HALF_CLOSED_TIMEOUT = 250;

/** The queue of one connection. */
export interface ExchangeQueue {
  /** Handles a request as soon as the responses before it have been sent. */
  add(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /**
   * Rejects the connection: calls `write`, which writes the last response to the socket, as soon as
   * the responses before it have been sent. Requests after it are dropped. If the error is in the
   * body of a request whose response has begun, the connection is closed without a response.
   * `write` gets the method of that request; undefined if the error is not in a body.
   */
  reject(write: (method?: string) => void): void;
  /** Closes the connection as soon as the responses to its requests so far have been sent. */
  drain(): void;
  /** Makes the current response the last: requests after it are dropped. */
  finish(): void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: () => void;
}

/** The limits of a queue. */
export interface ExchangeLimits {
  /** The longest exchange in ms, until the client has received the last byte. */
  readonly responseTimeout: number;
  /** How many parsed requests may wait. */
  readonly maxPipelined: number;
  /** Writes the last response of a connection on which more wait, to a request of that method. */
  readonly overflow: (method?: string) => void;
  /** Counts the connections that are closed because an exchange takes longer. */
  readonly report?: (event: "responseTimeout") => void;
}

/**
 * Makes the queue of a connection.
 *
 * A response that is awaited when the client half-closes is sent if it begins within 250 ms.
 */
export function createExchangeQueue(
  socket: Socket,
  { responseTimeout, maxPipelined, overflow, report = () => {} }: ExchangeLimits,
): ExchangeQueue {
  let current: Exchange | undefined;
  let latest: Exchange | undefined;
  let waiting: Exchange[] = [];
  /** Runs instead of further requests, which are dropped. */
  let last: (() => void) | undefined;
  let closed = false;
  let halfClosed: NodeJS.Timeout | undefined;
  // Node resumes at the end of each request, also of one that waits.
  socket.on("resume", () => {
    if (waiting.length > 0) socket.pause();
  });
  socket.once("end", () => {
    if (current !== undefined) halfClosed = setTimeout(abandon, HALF_CLOSED_TIMEOUT);
  });
  socket.once("close", () => {
    closed = true;
    waiting = [];
    clearTimeout(halfClosed);
  });

  function next(): void {
    current = waiting.shift();
    if (closed) return;
    // In the next turn of the event loop, so that pipelined requests delay no other connection.
    if (current !== undefined) setImmediate(run, current);
    else if (last !== undefined) last();
    else if (socket.isPaused()) socket.resume();
  }

  function run({ request, response, handle }: Exchange): void {
    if (closed) return;
    const overdue = setTimeout(() => {
      report("responseTimeout");
      // A reset, so that the kernel drops what it has buffered too.
      socket.resetAndDestroy();
    }, responseTimeout);
    response.once("close", () => {
      clearTimeout(overdue);
      // An idle connection keeps nothing of its last exchange.
      if (latest?.request === request && request.complete) latest = undefined;
      next();
      if (!closed && isEndless(request)) leaveBody(request);
    });
    handle();
  }

  /** Ends the connection, unless the chunk that is being parsed holds the end of the body. */
  function leaveBody(request: IncomingMessage): void {
    // Node would read on, whatever the length. It resumes at the end of the body.
    socket.pause();
    setImmediate(() => {
      if (!closed && !request.complete) end(() => closeLingering(socket));
    });
  }

  function finish(): void {
    waiting = [];
    setLast(() => socket.destroySoon());
  }

  /** Gives up what a half-closed connection still waits for. */
  function abandon(): void {
    if (current?.response.headersSent) finish();
    else socket.destroy();
  }

  function setLast(action: () => void): void {
    last = action;
    dropRequests(socket);
  }

  /** Runs `action` instead of further requests, after those that were added. */
  function end(action: () => void): void {
    if (last !== undefined) return;
    setLast(action);
    if (current === undefined) action();
  }

  function reject(write: (method?: string) => void): void {
    // An incomplete request is the malformed one: it gets one response at most.
    const malformed = latest?.request.complete === false ? latest : undefined;
    const respond = () => write(malformed?.request.method);
    if (last === undefined && malformed !== undefined && waiting.pop() === undefined) {
      setLast(respond);
      if (malformed.response.headersSent) socket.destroy();
      else respond();
    } else {
      end(respond);
    }
  }

  return {
    add(request, response, handle) {
      if (closed || last !== undefined) return;
      const exchange = { request, response, handle };
      if (current === undefined) {
        current = latest = exchange;
        run(exchange);
      } else if (waiting.length < maxPipelined) {
        latest = exchange;
        waiting.push(exchange);
        socket.pause();
      } else {
        reject(() => overflow(request.method));
      }
    },
    reject,
    drain: () => end(() => socket.destroySoon()),
    finish,
  };
}
