/** Load on the service: clients that send one request after the other, and the result of each. */
import { Agent } from "node:http";
import { callGrpc, grpcClient } from "../clients/grpc-client.ts";
import { rawHttp } from "../clients/raw-http.ts";
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
  | { readonly kind: "lost"; readonly reason: string };

/** A client with a connection of its own. */
export interface LoadClient {
  /** Requests the overview. */
  send(): Promise<Result>;
  close(): void;
}

/** A REST client, which reuses its connection. */
export function restLoadClient(http: string, key: string): LoadClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async send() {
      const start = performance.now();
      const request = { target: paths.GetOverview, headers: withKey(key), agent };
      try {
        const { status, text } = await rawHttp(http, request);
        const duration = performance.now() - start;
        return { kind: "answered", answer: `${status} ${text}`, duration };
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        return code === "ECONNREFUSED" ? { kind: "refused" } : { kind: "lost", reason: message };
      }
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
      const outcome = await callGrpc(client, { method: "GetOverview", headers: withKey(key) });
      const duration = performance.now() - start;
      if ("response" in outcome) return { kind: "answered", answer: "OK", duration };
      const { code, message } = outcome;
      if (code === "UNAVAILABLE" && NOT_CONNECTED.test(message)) return { kind: "refused" };
      const answer = `${code}: ${message}`;
      return SERVICE_ERRORS.includes(answer)
        ? { kind: "answered", answer, duration }
        : { kind: "lost", reason: answer };
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
export function startLoad(clients: readonly LoadClient[]): Load {
  const results: { at: number; result: Result }[] = [];
  let stopped = false;
  const loops = clients.map(async (client) => {
    while (!stopped) {
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
