/** Clients that ask again and again, and set how each request ended. */
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import type { Client } from "@grpc/grpc-js";
import { callGrpc, grpcClient } from "../clients/grpc-client.ts";
import { withKey } from "../request.ts";

/**
 * How a request ended: with an answer (REST's status and body, or gRPC's code), with the port
 * closed before anything was sent, or lost: sent, or on its way, and never answered whole.
 */
export type Ending =
  | { readonly kind: "answered"; readonly told: string; readonly took: number }
  | { readonly kind: "refused" }
  | { readonly kind: "lost"; readonly why: string; readonly requestId: string };

/** One client with a connection of its own. */
export interface LoadClient {
  readonly name: string;
  ask(): Promise<Ending>;
  close(): void;
}

const TARGET = "/api/provider/revenue";

/** A REST client; `keepAlive` uses one connection as long as it lasts, else each request has its own. */
export function restClient(http: string, key: string, keepAlive: boolean): LoadClient {
  const agent = new Agent({ keepAlive, maxSockets: 1 });
  const { hostname, port } = new URL(http);
  return {
    name: keepAlive ? "REST, kept alive" : "REST, a connection each",
    ask() {
      const began = performance.now();
      const { promise, resolve } = Promise.withResolvers<Ending>();
      const requestId = randomUUID();
      const lost = (why: string) => resolve({ kind: "lost", why, requestId });
      const outgoing = request({
        ...{ hostname, port, path: TARGET, agent },
        headers: { ...Object.fromEntries(withKey(key)), "x-request-id": requestId },
      });
      outgoing.once("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED") resolve({ kind: "refused" });
        else
          lost(`${error.code ?? error.message}${outgoing.reusedSocket ? ", reused socket" : ""}`);
      });
      outgoing.once("response", (incoming) => {
        let body = "";
        incoming.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        incoming.once("error", (error) => lost(`in the answer: ${error.message}`));
        incoming.once("end", () => {
          const took = performance.now() - began;
          resolve({ kind: "answered", told: `${incoming.statusCode} ${body}`, took });
        });
      });
      outgoing.end();
      return promise;
    },
    close: () => agent.destroy(),
  };
}

/** What grpc-js says of an address where nobody listens: nothing was sent. */
const NOT_CONNECTED = /^No connection established|^Name resolution failed/;

/** A gRPC client with one channel. */
export function grpcLoadClient(address: string, key: string): LoadClient {
  const client: Client = grpcClient(address);
  return {
    name: "gRPC",
    async ask() {
      const began = performance.now();
      const requestId = randomUUID();
      const headers = [...withKey(key), ["x-request-id", requestId] as const];
      const outcome = await callGrpc(client, { method: "GetOverview", headers });
      const took = performance.now() - began;
      if ("answer" in outcome) return { kind: "answered", told: "OK", took };
      const { code, message } = outcome;
      if (code === "UNAVAILABLE" && NOT_CONNECTED.test(message)) return { kind: "refused" };
      return isOurs(code, message)
        ? { kind: "answered", told: `${code}: ${message}`, took }
        : { kind: "lost", why: `${code}: ${message}`, requestId };
    },
    close: () => client.close(),
  };
}

/** Whether a status is the service's own word, and not what grpc-js makes of a lost connection. */
function isOurs(code: string, message: string): boolean {
  return (
    (code === "UNAVAILABLE" && message.startsWith("the revenue data cannot be reached")) ||
    (code === "DEADLINE_EXCEEDED" && message === "the call took longer than its deadline")
  );
}

/** A load under way. */
export interface Load {
  /** How every request so far ended, with when it did (`performance.now()`). */
  readonly endings: readonly {
    readonly by: string;
    readonly at: number;
    readonly ending: Ending;
  }[];
  /** How many were answered so far. */
  answered(): number;
  /** Stops asking; resolves when the last request has ended. */
  stop(): Promise<void>;
}

/** Lets each client ask one request after the other, until it is refused or the load is stopped. */
export function startLoad(clients: readonly LoadClient[], most = 50_000): Load {
  const endings: { by: string; at: number; ending: Ending }[] = [];
  let stopped = false;
  const loops = clients.map(async (client) => {
    while (!stopped && endings.length < most) {
      const ending = await client.ask();
      endings.push({ by: client.name, at: performance.now(), ending });
      if (ending.kind === "refused") break;
    }
  });
  return {
    endings,
    answered: () => endings.filter(({ ending }) => ending.kind === "answered").length,
    async stop() {
      stopped = true;
      await Promise.all(loops);
      for (const client of clients) client.close();
    },
  };
}
