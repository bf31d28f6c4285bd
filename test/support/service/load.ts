/** Load on the service: clients that send one request after the other, and the result of each. */
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { callGrpc, grpcClient } from "../clients/grpc-client.ts";
import { DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED } from "../expected-error.ts";
import { paths, withKey } from "../request.ts";

/**
 * The result of a request: a complete answer of the service (REST's status and body, or gRPC's
 * code and message), refused because the port was closed before anything was sent, or lost
 * without a complete answer. Times are in milliseconds.
 */
export type Result =
  | { readonly kind: "answered"; readonly answer: string; readonly duration: number }
  | { readonly kind: "refused" }
  | { readonly kind: "lost"; readonly reason: string; readonly requestId: string };

/** A client with a connection of its own. */
export interface LoadClient {
  /** Requests the overview. */
  send(): Promise<Result>;
  close(): void;
}

/** A REST client. With `keepAlive` it reuses one connection, otherwise each request has its own. */
export function restLoadClient(http: string, key: string, keepAlive: boolean): LoadClient {
  const agent = new Agent({ keepAlive, maxSockets: 1 });
  const { hostname, port } = new URL(http);
  return {
    send() {
      const start = performance.now();
      const { promise, resolve } = Promise.withResolvers<Result>();
      const requestId = randomUUID();
      const lose = (reason: string) => resolve({ kind: "lost", reason, requestId });
      const outgoing = request({
        ...{ hostname, port, path: paths.GetOverview, agent },
        headers: { ...Object.fromEntries(withKey(key)), "x-request-id": requestId },
      });
      outgoing.once("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED") resolve({ kind: "refused" });
        else lose(`${error.code ?? error.message}, reused socket: ${outgoing.reusedSocket}`);
      });
      outgoing.once("response", (incoming) => {
        let body = "";
        incoming.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        incoming.once("error", (error) => lose(`while reading the body: ${error.message}`));
        incoming.once("end", () => {
          const duration = performance.now() - start;
          resolve({ kind: "answered", answer: `${incoming.statusCode} ${body}`, duration });
        });
      });
      outgoing.end();
      return promise;
    },
    close: () => agent.destroy(),
  };
}

/** grpc-js's messages if it could not connect: nothing was sent. */
const NOT_CONNECTED = /^No connection established|^Name resolution failed/;
/** Errors that the service itself sends. Any other comes from grpc-js: the connection was lost. */
const SERVICE_ERRORS = [DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED].map(
  ({ code, message }) => `${code}: ${message}`,
);

/** A gRPC client with a channel of its own. */
export function grpcLoadClient(address: string, key: string): LoadClient {
  const client = grpcClient(address);
  return {
    async send() {
      const start = performance.now();
      const requestId = randomUUID();
      const headers = [...withKey(key), ["x-request-id", requestId] as const];
      const outcome = await callGrpc(client, { method: "GetOverview", headers });
      const duration = performance.now() - start;
      if ("response" in outcome) return { kind: "answered", answer: "OK", duration };
      const { code, message } = outcome;
      if (code === "UNAVAILABLE" && NOT_CONNECTED.test(message)) return { kind: "refused" };
      const answer = `${code}: ${message}`;
      return SERVICE_ERRORS.includes(answer)
        ? { kind: "answered", answer, duration }
        : { kind: "lost", reason: answer, requestId };
    },
    close: () => client.close(),
  };
}

/** A load that runs. */
export interface Load {
  /** The result of every request so far, with the time it ended (`performance.now()`). */
  readonly results: readonly { readonly at: number; readonly result: Result }[];
  /** How many requests were answered so far. */
  answered(): number;
  /** Sends no more requests. Resolves when the last one has ended. */
  stop(): Promise<void>;
}

/** Starts a loop per client. A loop ends when its client is refused, or when the load is stopped. */
export function startLoad(clients: readonly LoadClient[], maxRequests = 50_000): Load {
  const results: { at: number; result: Result }[] = [];
  let stopped = false;
  const loops = clients.map(async (client) => {
    while (!stopped && results.length < maxRequests) {
      const result = await client.send();
      results.push({ at: performance.now(), result });
      if (result.kind === "refused") break;
    }
  });
  return {
    results,
    answered: () => results.filter(({ result }) => result.kind === "answered").length,
    async stop() {
      stopped = true;
      await Promise.all(loops);
      for (const client of clients) client.close();
    },
  };
}
