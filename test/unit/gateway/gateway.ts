/** A gateway that listens, with an Rpc of the test's own behind it. */
import { type AddressInfo, connect } from "node:net";
import type { DescService, Message } from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";
import type { ServiceError } from "../../../src/errors.ts";
import { createGateway } from "../../../src/gateway/server.ts";
import type { AcceptedCall, IncomingCall, Rpc } from "../../../src/rpc/call.ts";

/** A call as it came in, with its request still to be decoded. */
export interface Call extends IncomingCall {
  readonly request: () => Message;
}

/** A line that the gateway logged. */
interface Line {
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

export interface Listening {
  readonly app: FastifyInstance;
  readonly port: number;
  readonly url: string;
  /** The calls that were run. */
  readonly calls: Call[];
  /** Why calls ended that were accepted, whether they were run before or not. */
  readonly rejected: ServiceError[];
  readonly lines: Line[];
}

/** Serves a service on a free port until the test is over; `answer` answers the calls. */
export async function listen(
  service: DescService,
  answer: (call: Call) => Message | Promise<Message>,
  authenticate: (incoming: IncomingCall) => void = () => {},
): Promise<Listening> {
  const calls: Call[] = [];
  const rejected: ServiceError[] = [];
  const lines: Line[] = [];
  // The test knows which message answers which method; the types do not.
  const rpc = {
    async accept(incoming: IncomingCall): Promise<AcceptedCall> {
      authenticate(incoming);
      return {
        signal: incoming.signal,
        async run(request) {
          const call = { ...incoming, request };
          calls.push(call);
          return answer(call);
        },
        reject: (error) => rejected.push(error),
      };
    },
  } as Rpc;
  const write = (fields: object, message: string) => {
    lines.push({ message, fields: { ...fields } });
  };
  const app = createGateway({ service, rpc, log: { info: write, error: write } });
  await app.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const { port } = app.server.address() as AddressInfo;
  return { app, port, url: `http://127.0.0.1:${port}`, calls, rejected, lines };
}

/** Sends bytes on a connection of their own; resolves to all that comes back until it closes. */
export function exchange(
  port: number,
  ...parts: readonly (string | Uint8Array)[]
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
    for (const part of parts) socket.write(part);
  });
}

/** Status, headers and body of a raw answer; `date` left out, for it differs. */
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
