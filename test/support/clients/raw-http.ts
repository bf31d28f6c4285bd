/** A request of HTTP/1.1 as it is written, header for header, and its answer likewise. */
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";

export interface RawRequest {
  /** GET by default. */
  readonly method?: string;
  /** The request-target as it goes out, unnormalised: `/a//b?c=%zz`. */
  readonly target: string;
  /** In order, names as often as wanted. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
  /** Keeps connections alive where given. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** Whether the connection had answered a request before. */
  readonly reused: boolean;
}

/** Sends one request to a base address (`http://127.0.0.1:8080`); rejects where the answer is cut. */
export async function rawHttp(
  base: string,
  { method = "GET", target, headers = [], body, agent, signal }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(base);
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
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
      const reused = outgoing.reusedSocket;
      resolve({ status: statusCode, headers, bytes, text: bytes.toString(), reused });
    }, reject);
  });
  outgoing.end(body);
  return promise;
}
