/** Errors of accept(2) and of listen(2) on the two public ports. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import type { Server } from "node:net";
import { afterEach, expect, it } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { createPorts } from "../../../src/ports.ts";
import type { Rpc } from "../../../src/rpc/call.ts";
import { collectLog } from "../../support/collected-log.ts";

type Ports = ReturnType<typeof createPorts>;

const open: Ports[] = [];
afterEach(async () => {
  for (const { gateway, grpc } of open.splice(0)) {
    await Promise.all([gateway.stop(0), grpc.stop(0)]);
  }
});

/** Both ports of the service, and what they report. No call is accepted. */
function createBoth() {
  const events: string[] = [];
  const ports = createPorts({
    config: readConfig({ DATABASE_URL: "mysql://u:p@h/d" }),
    rpc: { accept: () => Promise.reject(new Error("no call is expected")) } as Rpc,
    log: collectLog().log,
    report: (event) => events.push(event),
    metrics: undefined,
    certificates: undefined,
  });
  return { ...ports, events };
}

/** Listens on a port that is free, or the given one. Resolves to it and to the server that listens. */
async function listen(port: Ports["gateway" | "grpc"], number = 0) {
  let server: Server | undefined;
  const see = (message: unknown) => {
    server = (message as { readonly server: Server }).server;
  };
  const channel = "tracing:net.server.listen:asyncStart";
  subscribe(channel, see);
  try {
    return { port: await port.listen("127.0.0.1", number), server };
  } finally {
    unsubscribe(channel, see);
  }
}

/** Resolves if a new connection to the gRPC port begins HTTP/2. */
async function greet(port: number): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  await once(session, "remoteSettings");
  session.destroy();
}

it("a connection that cannot be accepted is reported, and the next ones are served", async () => {
  const ports = createBoth();
  open.push(ports);
  const [http, grpc] = [await listen(ports.gateway), await listen(ports.grpc)];
  const failed = Object.assign(new Error("accept ENOBUFS"), { code: "ENOBUFS", syscall: "accept" });
  for (const { server } of [http, grpc]) expect(server?.emit("error", failed)).toBe(true);
  expect(ports.events).toEqual(["acceptFailed", "acceptFailed"]);
  expect((await fetch(`http://127.0.0.1:${http.port}/docs`)).status).toBe(200);
  await greet(grpc.port);
});

it("a port that is in use fails the start, and is no such connection", async () => {
  const [first, second] = [createBoth(), createBoth()];
  open.push(first);
  for (const name of ["gateway", "grpc"] as const) {
    const { port } = await listen(first[name]);
    await expect(listen(second[name], port)).rejects.toThrow("EADDRINUSE");
  }
  expect(second.events).toEqual([]);
});
