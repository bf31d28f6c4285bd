/**
 * The admin port: `/metrics`, `/livez` and `/readyz`, for Prometheus and an orchestrator. Nothing
 * else is served on it, and none of it on the public ports. It asks for no key, so it belongs on a
 * private network; its own limits keep a client that misuses it from taking memory.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readiness } from "./readiness.ts";

/** The limits of the port. Times in ms. */
export const ADMIN_LIMITS = {
  /** Open connections; further ones are closed at once. */
  maxConnections: 100,
  /** Responses that are being made or sent; further requests are refused with 503. */
  maxResponses: 32,
  maxHeaderSize: 8_192,
  /** From the start of a request, or of a connection, to the end of its headers. */
  headersTimeout: 5_000,
  /** Idle time between requests: longer than between two scrapes. */
  keepAliveTimeout: 75_000,
  /** Silence during a request, such as a response that is not read. */
  connectionTimeout: 10_000,
};

/** Metrics in a format of Prometheus. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

/** What the port serves. */
export interface AdminParts {
  /** Renders the metrics in the format that an `Accept` header asks for. */
  readonly metrics: (accept: string) => Promise<Exposition>;
  readonly readiness: Readiness;
}

/** A server of the admin port. */
export interface AdminServer {
  /** Listens on host and port (0 picks a free one). Resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Closes the port and its connections. */
  close(): void;
}

interface Answer extends Exposition {
  readonly status: number;
  readonly allow?: string;
}

/** Creates the server. It does not listen yet. */
export function createAdminServer({ metrics, readiness }: AdminParts): AdminServer {
  const answers: Readonly<Record<string, (request: IncomingMessage) => Promise<Answer>>> = {
    "/metrics": async ({ headers }) => ({
      status: 200,
      ...(await metrics(headers.accept ?? "")),
    }),
    // Looks at nothing: that it answers says that the event loop turns.
    "/livez": async () => plain(200, "ok\n"),
    "/readyz": async ({ url = "" }) => {
      const ready = readiness.isReady();
      const verbose = new URLSearchParams(url.split("?")[1]).has("verbose");
      return plain(ready ? 200 : 503, ready && !verbose ? "ok\n" : readiness.report());
    },
  };

  async function answer(request: IncomingMessage): Promise<Answer> {
    const path = request.url?.split("?")[0] ?? "";
    if (!Object.hasOwn(answers, path)) return plain(404, "not found\n");
    if (request.method !== "GET" && request.method !== "HEAD") {
      return { ...plain(405, "method not allowed\n"), allow: "GET, HEAD" };
    }
    return (await answers[path]?.(request)) ?? plain(404, "not found\n");
  }

  let responses = 0;
  const server = createServer(
    {
      maxHeaderSize: ADMIN_LIMITS.maxHeaderSize,
      headersTimeout: ADMIN_LIMITS.headersTimeout,
      requestTimeout: ADMIN_LIMITS.headersTimeout,
      keepAliveTimeout: ADMIN_LIMITS.keepAliveTimeout,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => {
      request.on("error", ignore);
      response.on("error", ignore);
      if (responses >= ADMIN_LIMITS.maxResponses) {
        send(response, plain(503, "too many requests are being answered\n"), true);
        return;
      }
      responses++;
      response.once("close", () => responses--);
      answer(request).then(
        (result) => send(response, result, request.headers["content-length"] !== undefined),
        () => send(response, plain(500, "internal error\n"), true),
      );
    },
  );
  server.maxConnections = ADMIN_LIMITS.maxConnections;
  server.setTimeout(ADMIN_LIMITS.connectionTimeout);
  server.on("connection", (socket) => socket.on("error", ignore));
  return { listen: (host, port) => listen(server, host, port), close: () => close(server) };
}

const ignore = () => {};

function plain(status: number, body: string): Answer {
  return { status, contentType: "text/plain; charset=utf-8", body };
}

/** Sends an answer. `last` closes the connection after it: its request may have a body. */
function send(
  response: ServerResponse,
  { status, contentType, body, allow }: Answer,
  last: boolean,
) {
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(allow && { allow }),
    ...(last && { connection: "close" }),
  });
  response.end(body);
}

function listen(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once("error", reject);
  server.listen({ host, port }, () => {
    server.off("error", reject);
    server.on("error", () => {}); // a connection that could not be accepted
    resolve((server.address() as AddressInfo).port);
  });
  return promise;
}

function close(server: Server): void {
  server.close();
  server.closeAllConnections();
}
