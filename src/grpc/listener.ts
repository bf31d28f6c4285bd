/**
 * The connections of the gRPC port: accepted within a limit, with the TLS of this service, and served by
 * grpc-js.
 *
 * They end in two steps (RFC 9113, section 6.8; gRFC A9): a GOAWAY with the highest stream id, which asks the
 * client to open no further stream, and when the client must have read it, Node's own with the last stream. A
 * stream that is on its way at the first one is served. At the second it is refused, which gRPC's own clients
 * try again, and proxies report to their callers.
 *
 * Node has no function for the first step: after `session.goaway`, with whatever id, nghttp2 ignores new
 * streams (https://nghttp2.org/documentation/nghttp2_submit_goaway.html). So the frame is written to the
 * socket below, between two of Node's, which writes whole frames. test/unit/grpc/goaway.test.ts fails if
 * it does not. Over TLS that is impossible, and the second step is the only one.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { reportAcceptErrors } from "../net/accept-errors.ts";
import { endsOf } from "../net/ends.ts";
import { reset } from "../net/reset.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { PortTls } from "../tls/port-tls.ts";
import type { GrpcLimits } from "./limits.ts";

/** Length 8, type GOAWAY, no flags, stream 0; the highest id, NO_ERROR. */
const FIRST_GOAWAY = Buffer.from(
  "000008" + "07" + "00" + "00000000" + "7fffffff" + "00000000",
  "hex",
);
/** What is reported of who holds most connections: so many addresses. */
const MAX_HOLDERS = 5;

/** What a listener is made of. */
export interface ListenerParts {
  readonly limits: Pick<GrpcLimits, "maxConnections" | "maxConnectionAge">;
  /** TLS; without it, connections are not encrypted. */
  readonly tls: PortTls | undefined;
  /** Counts connections that are refused, `tooManyGrpcConnections`, and that could not be accepted, `acceptFailed`. */
  readonly report: ReportEvent;
  /** Serves a TCP connection, or TLS over one. */
  readonly serve: (socket: Socket) => void;
}

/** A listener. */
export interface Listener {
  /** Resolves to the port. Rejects with an Error that names the address if it cannot be listened on. */
  listen(host: string, port: number): Promise<number>;
  /** Accepts no further connections, and asks all clients to open no further stream. */
  announceEnd(): void;
  /** Closes connections whose TLS handshake is not complete. */
  closeIncomplete(): void;
  /** The connection with these ends. */
  connectionOf(socket: Socket): Socket | undefined;
  /** Closes all connections. */
  destroy(): void;
  /** How many connections are open. */
  readonly connections: number;
  /** Resolves when it does not listen any more, and all connections are closed. */
  readonly closed: Promise<void>;
}

/** Creates a listener. It does not listen yet. */
export function createListener({ limits, tls, report, serve }: ListenerParts): Listener {
  /** By their ends. */
  const open = new Map<string, Socket>();

  function begin(socket: Socket): void {
    socket.on("error", () => {});
    const ends = endsOf(socket);
    open.set(ends, socket);
    const age = limits.maxConnectionAge;
    // grpc-js closes it later: firstGoawayBefore.
    const timer = age > 0 && setTimeout(announce, age * (0.9 + Math.random() / 10), socket).unref();
    socket.once("close", () => {
      // Its client may have connected again from the same port.
      if (open.get(ends) === socket) open.delete(ends);
      if (timer) clearTimeout(timer);
    });
    serve(socket);
  }

  /** The addresses with the most connections, when the line is written. */
  const holders = {
    toJSON() {
      const counts = Object.groupBy(open.values(), ({ remoteAddress = "" }) => remoteAddress);
      const sorted = Object.entries(counts).map(
        ([address, all = []]) => [address, all.length] as const,
      );
      return Object.fromEntries(
        sorted.sort(([, one], [, other]) => other - one).slice(0, MAX_HOLDERS),
      );
    },
  };
  const server = tls ? createTlsServer(tls.options, begin) : createServer(begin);
  if (tls) tls.watch(server as ReturnType<typeof createTlsServer>);
  server.maxConnections = limits.maxConnections;
  server.on("drop", () => report("tooManyGrpcConnections", { holders }));
  reportAcceptErrors(server, report);
  return {
    async listen(host, port) {
      server.listen(port, host);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    },
    announceEnd() {
      server.close();
      for (const socket of open.values()) announce(socket);
    },
    connectionOf: (socket) => open.get(endsOf(socket)),
    closeIncomplete: () => tls?.closeIncomplete(),
    destroy() {
      for (const socket of open.values()) reset(socket);
    },
    get connections() {
      return open.size;
    },
    closed: new Promise<void>((resolve) => void server.once("close", resolve)),
  };
}

/** Sends the first GOAWAY. Writing to a TLS socket under HTTP/2 aborts the process. */
function announce(socket: Socket): void {
  if (socket.writable && !(socket instanceof TLSSocket)) socket.write(FIRST_GOAWAY);
}
