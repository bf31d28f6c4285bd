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

/** An error of the parser, or of Node's timeouts. */
export interface ParserError extends Error {
  readonly code?: string;
  /** The chunk that was being parsed: a Buffer, which Fastify's types do not know. */
  readonly rawPacket?: unknown;
  /** Up to where it was parsed. */
  readonly bytesParsed?: number;
}

/** The method of a request with wrong headers; undefined if the chunk does not begin before it. */
export function methodOf({ rawPacket, bytesParsed }: ParserError): string | undefined {
  const parsed = Buffer.isBuffer(rawPacket) ? rawPacket.toString("latin1", 0, bytesParsed) : "";
  // Its headers have no end yet: an empty line is in or after the request before it.
  const start = Math.max(0, parsed.lastIndexOf("\r\n\r\n"));
  return /^\s*([A-Z]+) /.exec(parsed.slice(start))?.[1];
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
