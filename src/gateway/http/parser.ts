/**
 * Node's HTTP/1.1 parser of a connection. It parses a whole chunk of 64 KiB at once, which can hold
 * 2,400 requests, and makes a request and a response of each, also of those that are dropped.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Node's parser. `onIncoming` is called for each request, when its headers have been parsed. */
interface Parser {
  onIncoming: ((request: IncomingMessage & { upgrade: boolean }) => number) | null;
}

/** What `onIncoming` returns to stop the parser, as for another protocol. */
const STOP = 2;

/**
 * Drops the further requests of a connection, with the rest of the chunk that is being parsed. The
 * body of the current request is still read.
 */
export function dropRequests(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Parser | null };
  if (parser == null || parser.onIncoming === null) return;
  parser.onIncoming = (request) => {
    // Node would hand the socket over.
    request.upgrade = false;
    return STOP;
  };
}
