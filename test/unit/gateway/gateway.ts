/** A gateway that listens on a free port, with a fake pipeline behind it. */
import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { create, type DescService, type Message } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import {
  type GetOverviewResponse,
  GetOverviewResponseSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { createGateway, type GatewayParts } from "../../../src/gateway/server.ts";
import { createAddresses } from "../../../src/net/address.ts";
import type { AcceptedCall, IncomingCall, Rpc } from "../../../src/rpc/call.ts";

/** A call that was run. */
export interface Call extends IncomingCall {
  /** Decodes the request. */
  readonly request: () => Message;
}

/** A response with one figure. */
export const overview: GetOverviewResponse = create(GetOverviewResponseSchema, {
  summary: { availableBalance: { value: "4500.00" } },
});

/** Decodes the request and responds with `overview`. */
export const handleOverview = (call: Call) => {
  call.request();
  return overview;
};

/** The path of GetOverview. */
export const PATH = "/revenue.v1.RevenueService/GetOverview";

/** The header of a JSON request. */
export const JSON_BODY = "Content-Type: application/json";

/**
 * A pipeline that keeps the calls that it runs.
 *
 * @param handle runs a call
 * @param authenticate throws the error of a call that is not accepted
 */
export function createPipeline(
  handle: (call: Call) => Message | Promise<Message>,
  authenticate: (incoming: IncomingCall) => void = () => {},
) {
  const calls: Call[] = [];
  // The handler of the test returns the response type of its method; the compiler cannot know.
  const rpc = {
    async accept(incoming: IncomingCall): Promise<AcceptedCall> {
      authenticate(incoming);
      return {
        signal: incoming.signal,
        metadata: {},
        async run(request) {
          const call = { ...incoming, request };
          calls.push(call);
          return { message: await handle(call), metadata: { "data-as-of": randomUUID() } };
        },
        reject() {},
      };
    },
  } as Rpc;
  return { rpc, calls };
}

/** A gateway, and what happened in it: the calls that were run, and the lines that it logged. */
export type TestGateway = Awaited<ReturnType<typeof openGateway>>;

/** Serves a service until the end of the test. The parameters are those of `openGateway`. */
export async function listen(...parameters: Parameters<typeof openGateway>) {
  const gateway = await openGateway(...parameters);
  onTestFinished(() => gateway.stop(0));
  return gateway;
}

/**
 * Serves a service until `stop`, with the pipeline of `createPipeline`.
 *
 * @param parts limits that differ from the defaults
 */
export async function openGateway(
  service: DescService,
  handle: Parameters<typeof createPipeline>[0],
  authenticate?: Parameters<typeof createPipeline>[1],
  parts: Partial<GatewayParts> = {},
) {
  const { rpc, calls } = createPipeline(handle, authenticate);
  const lines: { readonly message: string; readonly fields: Record<string, unknown> }[] = [];
  const write = (fields: object, message: string) => {
    lines.push({ message, fields: { ...fields } });
  };
  const gateway = createGateway({
    services: [service],
    rpc,
    addresses: createAddresses(["127.0.0.1"]),
    log: { info: write, warn: write, error: write },
    ...parts,
  });
  const port = await gateway.listen("127.0.0.1", 0);
  return { ...gateway, port, url: `http://127.0.0.1:${port}`, calls, lines };
}

/** A request without a body, the last one of its connection. */
export function lastRequest(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, "Host: a", ...headers, "Connection: close", "", ""].join("\r\n");
}

/** Sends bytes on a new connection. Resolves to everything received until it closes. */
export async function exchange(port: number, bytes: string | Uint8Array = ""): Promise<string> {
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  socket.write(bytes);
  return (await socket.toArray()).join("");
}

/** A connection until the end of the test. */
export function open(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }).on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Status, headers (without `date`, which varies) and body of a raw response. */
export function parse(raw: string): { status: number; headers: Headers; body: string } {
  const end = raw.indexOf("\r\n\r\n");
  const [first = "", ...lines] = raw.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line) => splitHeader(line)));
  headers.delete("date");
  return { status: Number(first.split(" ")[1]), headers, body: raw.slice(end + 4) };
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
