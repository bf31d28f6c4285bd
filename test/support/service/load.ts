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

/** A client with a connection of its own, which requests the overview. */
export interface LoadClient {
  send(): Promise<Result>;
  close(): void;
}

/** A REST client, which reuses its connection. */
export function restLoadClient(http: string, key: string): LoadClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const request = { target: paths.GetOverview, headers: withKey(key), agent };
  return {
    send: () =>
      rawHttp(http, request).then(
        ({ status, text }) => ({ kind: "answered", answer: `${status} ${text}` }),
        ({ code, message }) =>
          code === "ECONNREFUSED" ? { kind: "refused" } : { kind: "lost", reason: message },
      ),
    close: () => agent.destroy(),
  };
}

/** grpc-js's messages if it could not connect: nothing was sent. */
const NOT_CONNECTED = /^UNAVAILABLE: (No connection established|Name resolution failed)/;
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
      const answer = `${outcome.code}: ${outcome.message}`;
      if (NOT_CONNECTED.test(answer)) return { kind: "refused" };
      const isSent = SERVICE_ERRORS.includes(answer);
      return isSent ? { kind: "answered", answer } : { kind: "lost", reason: answer };
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

/** What counts as standing still, in ms: half of what the service lets a connection idle at its end. */
const STANDSTILL = 100;

/** A load that runs: `startLoad`. */
export type Load = ReturnType<typeof startLoad>;

/** Starts a loop per client. A loop ends when its client is refused, or when the load is stopped. */
export function startLoad(clients: readonly LoadClient[]) {
  const results: Sent[] = [];
  let stopped = false;
  let [tick, woken] = [performance.now(), Number.NEGATIVE_INFINITY];
  const ticks = setInterval(() => {
    const now = performance.now();
    if (now - tick > STANDSTILL) woken = now;
    tick = now;
  }, 10);
  const loops = clients.map(async (client) => {
    for (let result: Result | undefined; !stopped && result?.kind !== "refused"; ) {
      const now = performance.now();
      const late = now - tick > STANDSTILL || now - woken < STANDSTILL;
      result = await client.send();
      results.push({ at: performance.now(), result, late });
    }
  });
  return {
    /** Every request so far. */
    results: results as readonly Sent[],
    /** How many requests were answered so far. */
    answered: () => results.filter(({ result }) => result.kind === "answered").length,
    /** Sends no more requests. Resolves when the last one has ended. */
    async stop() {
      stopped = true;
      await Promise.all(loops);
      clearInterval(ticks);
      for (const client of clients) client.close();
    },
  };
}
