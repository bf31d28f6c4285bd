/** One HTTP/1.1 exchange with the request target and the headers sent exactly as given. */
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { RequestHeaders } from "../request.ts";

/** A request to send. */
export interface RawRequest {
  /** GET by default. */
  readonly method?: string;
  /** The request target, which is not normalized: `/a//b?c=%zz`. */
  readonly target: string;
  readonly headers?: RequestHeaders;
  readonly body?: string | Uint8Array;
  /** The connection pool; by default the request has a connection of its own. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

/** A complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Sends one request to a base URL (`http://127.0.0.1:8080`). Rejects if the connection closes
 * before the response is complete.
 */
export async function rawHttp(
  baseUrl: string,
  { method = "GET", target, headers = [], body, agent, signal }: RawRequest,
): Promise<RawResponse> {
  const { hostname, port, host } = new URL(baseUrl);
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const lines = [["host", host] as const, ...headers];
  if (body !== undefined) lines.push(["content-length", `${Buffer.byteLength(body)}`]);
  const outgoing = request({
    hostname,
    port,
    method,
    path: target,
    headers: lines.flat(),
    agent: agent ?? new Agent(),
    ...(signal === undefined ? {} : { signal }),
  });
  outgoing.once("error", reject);
  outgoing.once("response", (incoming) => {
    buffer(incoming).then((bytes) => {
      const { statusCode = 0, headers } = incoming;
      resolve({ status: statusCode, headers, bytes, text: bytes.toString() });
    }, reject);
  });
  outgoing.end(body);
  return promise;
}
