/** Load on the service: clients that send one request after the other, and the result of each. */
import { Agent } from "node:http";
import { callGrpc, grpcClient } from "../clients/grpc-client.ts";
import { rawHttp } from "../clients/raw-http.ts";
import { DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED } from "../expected-error.ts";
import { paths, withKey } from "../request.ts";

/**
 * The result of a request: a complete answer of the service (REST's status and body, or gRPC's
 * code and message), refused because the port was closed before anything was sent, or lost
 * without a complete answer.
 */
export type Result =
  | { readonly kind: "answered"; readonly answer: string }
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
      const request = { target: paths.GetOverview, headers: withKey(key), agent };
      try {
        const { status, text } = await rawHttp(http, request);
        return { kind: "answered", answer: `${status} ${text}` };
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
      const outcome = await callGrpc(client, { method: "GetOverview", headers: withKey(key) });
      if ("response" in outcome) return { kind: "answered", answer: "OK" };
      const { code, message } = outcome;
      if (code === "UNAVAILABLE" && NOT_CONNECTED.test(message)) return { kind: "refused" };
      const answer = `${code}: ${message}`;
      return SERVICE_ERRORS.includes(answer)
        ? { kind: "answered", answer }
        : { kind: "lost", reason: answer };
    },
    close: () => client.close(),
  };
}

/** A request of a load. */
interface Sent {
  /** The time at which it ended (`performance.now()`). */
  readonly at: number;
  readonly result: Result;
  /** Whether it was sent right after this process had stood still, on a connection that was idle so long. */
  readonly late: boolean;
}

/** A load that runs. */
export interface Load {
  /** Every request so far. */
  readonly results: readonly Sent[];
  /** How many requests were answered so far. */
  answered(): number;
  /** Sends no more requests. Resolves when the last one has ended. */
  stop(): Promise<void>;
}

/** What counts as standing still, in ms: half of what the service lets a connection idle at its end. */
const STANDSTILL = 100;

/** Starts a loop per client. A loop ends when its client is refused, or when the load is stopped. */
export function startLoad(clients: readonly LoadClient[]): Load {
  const results: Sent[] = [];
  let stopped = false;
  let [tick, woken] = [performance.now(), Number.NEGATIVE_INFINITY];
  const ticks = setInterval(() => {
    const now = performance.now();
    if (now - tick > STANDSTILL) woken = now;
    tick = now;
  }, 10);
  const loops = clients.map(async (client) => {
    while (!stopped) {
      const now = performance.now();
      const late = now - tick > STANDSTILL || now - woken < STANDSTILL;
      const result = await client.send();
      results.push({ at: performance.now(), result, late });
      if (result.kind === "refused") break;
    }
  });
  return {
    results,
    answered: () => results.filter(({ result }) => result.kind === "answered").length,
    async stop() {
      stopped = true;
      await Promise.all(loops);
      clearInterval(ticks);
      for (const client of clients) client.close();
    },
  };
}
