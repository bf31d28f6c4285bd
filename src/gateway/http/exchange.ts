/**
 * One exchange at a time on each connection. Pipelining is declined (RFC 9112, section 9.3.2, lets a
 * server close a connection after any response): a request that arrives while an earlier one of its
 * connection is unanswered is not served. The response to the earlier one is the last, and says so. So
 * a connection holds one response in memory, and no error comes before the response ahead of it.
 *
 * A response that has ended may be with its client before Node tells that it was sent: over TLS, Node
 * tells it in a later turn of the event loop. So one request waits for that.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { reset } from "../../net/reset.ts";
import type { ReportEvent } from "../../telemetry/event-log.ts";

/** The exchanges of one connection. */
export interface Exchanges {
  /** Handles a request, unless an earlier one is being answered: then it is not served. */
  add(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /**
   * Rejects what follows on the connection. `write` writes the last response to the socket; if an
   * earlier request is unanswered, its response is the last instead. If the error is in the body of
   * that request, or of the one that waits, `write` gets its method; if its response has begun, the
   * connection is destroyed.
   */
  reject(write: (method?: string) => void): void;
  /** Closes the connection, after the response to a request that is unanswered. */
  drain(): void;
  /** Whether the latest response needs no key. The handler of its request sets it. */
  isPublic: boolean;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: () => void;
}

/** The limits of an exchange. */
export interface ExchangeLimits {
  /** The longest exchange in ms, until the client has received the last byte. */
  readonly responseTimeout: number;
  /** Counts the connections that are closed because an exchange takes longer. */
  readonly report?: ReportEvent;
}

/** Begins to follow a connection. */
export function createExchanges(
  socket: Socket,
  { responseTimeout, report = () => {} }: ExchangeLimits,
): Exchanges {
  /** The exchange that is not over: its response is awaited, or its body is arriving. */
  let open: Exchange | undefined;
  /** The request that waits until the response before it, which has ended, was sent. */
  let next: Exchange | undefined;
  /** Writes the rejection of the request that waited. */
  let rejectNext: (() => void) | undefined;
  /** Whether nothing further is served. */
  let last = false;
  const isAnswered = () => open === undefined || open.response.closed;
  // Node reads on at the end of each request, also of one that is not served.
  socket.on("resume", () => {
    if (last && !isAnswered()) socket.pause();
  });

  function begin(exchange: Exchange): void {
    const { request, response, handle } = exchange;
    open = exchange;
    exchanges.isPublic = false;
    next = undefined;
    const overdue = setTimeout(() => {
      report("responseTimeout");
      reset(socket);
    }, responseTimeout);
    response.once("close", () => {
      clearTimeout(overdue);
      // An idle connection keeps nothing of its last exchange.
      if (request.complete) open = undefined;
      if (socket.destroyed) return;
      if (next !== undefined) begin(next);
      else if (rejectNext !== undefined) rejectNext();
      else if (last) socket.destroySoon();
    });
    handle();
  }

  function drain(): void {
    if (last) return;
    last = true;
    const response = (next ?? open)?.response;
    if (isAnswered()) socket.destroySoon();
    else if (response?.headersSent === false) response.setHeader("connection", "close");
  }

  const exchanges: Exchanges = {
    isPublic: false,
    add(request, response, handle) {
      if (last || socket.writableEnded) return;
      const exchange = { request, response, handle };
      if (isAnswered()) {
        begin(exchange);
      } else if (next === undefined && open?.response.writableEnded) {
        next = exchange;
      } else {
        drain();
        socket.pause();
      }
    },
    reject(write) {
      if (last) return;
      if (next?.request.complete === false) {
        // The error is in its body: it would wait for the rest in vain.
        const { method } = next.request;
        rejectNext = () => write(method);
        next = undefined;
        last = true;
        return;
      }
      const incomplete = open?.request.complete === false ? open : undefined;
      if (incomplete === undefined && !isAnswered()) {
        drain();
        return;
      }
      last = true;
      if (incomplete?.response.headersSent) socket.destroy();
      else write(incomplete?.request.method);
    },
    drain,
  };
  return exchanges;
}
