/**
 * A TCP proxy in front of a database server. It can fall silent without closing a connection, as
 * a path or a node that dies does, and can answer commands with errors.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** The commands of the protocol that a read sends. */
const COMMANDS = { query: 0x03, prepare: 0x16, execute: 0x17 } as const;

/** An error that is sent in place of an answer. */
export interface InjectedError {
  /** Without one there is no answer, and the connection falls silent. */
  readonly errno?: number;
  /** Five characters; HY000 by default. */
  readonly sqlState?: string;
  /** "injected" by default. */
  readonly message?: string;
  /** The command that it answers; execute by default. */
  readonly command?: keyof typeof COMMANDS;
  /** How many commands get it; one by default. */
  readonly times?: number;
  /** Whether only connections that are open now get it. */
  readonly open?: boolean;
}

/** A running proxy. */
export type DatabaseProxy = Awaited<ReturnType<typeof startDatabaseProxy>>;

interface Link {
  readonly client: Socket;
  silent: boolean;
}

/**
 * Starts a proxy in front of the server at a URL.
 *
 * @param loses is shown what clients send, and may write into it. If it returns true, that is the last
 *   of its connection, and its answer is lost
 */
export async function startDatabaseProxy(
  url: string,
  loses: (sent: Buffer) => boolean = () => false,
) {
  const links = new Set<Link>();
  const sockets = new Set<Socket>();
  const named = Buffer.from(`${new URL(url).pathname.slice(1)}\0`);
  let target = new URL(url);
  let made = 0;
  let unanswered = 0;
  let silentFromStart = false;
  let injected: { error: InjectedError; left: number; links: ReadonlySet<Link> } | undefined;

  // A path that is dead does not answer the end of a connection either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const { port, hostname, pathname } = target;
    const upstream = connect(Number(port), hostname);
    let isGreeting = true;
    sockets.add(client).add(upstream);
    const link: Link = { client, silent: silentFromStart };
    made++;
    links.add(link);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on("data", (data: Buffer) => {
      if (link.silent) {
        if (data[4] === COMMANDS.prepare || data[4] === COMMANDS.execute) unanswered++;
        return;
      }
      if (isGreeting && data.includes(named)) data.write(pathname.slice(1), data.indexOf(named));
      isGreeting = false;
      const { error } = injected ?? {};
      // Byte 3 is the packet's number, 0 for a command; byte 4 is the command.
      const isCommand = error && data[3] === 0 && data[4] === COMMANDS[error.command ?? "execute"];
      const isMeant = injected && isCommand && (!error.open || injected.links.has(link));
      if (!injected || !isMeant) {
        const isLost = loses(data);
        upstream.write(data);
        if (isLost) client.destroy();
        return;
      }
      injected.left--;
      if (injected.left === 0) injected = undefined;
      if (error.errno === undefined) link.silent = true;
      else client.write(errorPacket(error.errno, error));
    });
    upstream.on("data", (data) => {
      if (!link.silent) client.write(data);
    });
    client.on("end", () => {
      links.delete(link);
      if (!link.silent) client.end();
    });
    client.on("close", () => {
      links.delete(link);
      sockets.delete(client);
      if (!link.silent) upstream.destroy();
    });
    upstream.on("close", () => {
      sockets.delete(upstream);
      if (!link.silent) client.destroy();
    });
    client.on("error", () => {});
    upstream.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String((server.address() as AddressInfo).port);

  return {
    /** The URL of the database through the proxy. */
    url: through.href,
    /** The number of connections that the client has not closed. */
    connections: () => links.size,
    /** The number of connections that were ever made. */
    made: () => made,
    /** The number of statements that were sent on silent connections. */
    unanswered: () => unanswered,
    /** Lets nothing through on the connections that are open now, in either direction. */
    silence() {
      for (const link of links) link.silent = true;
    },
    /** The same for connections that are made from now on, or no longer. */
    silenceNew(silent: boolean) {
      silentFromStart = silent;
    },
    inject(error: InjectedError) {
      injected = { error, left: error.times ?? 1, links: new Set(links) };
    },
    /** Sends further connections to the server at this URL, and to its database, whose name is as long. */
    route(next: string) {
      target = new URL(next);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function errorPacket(
  errno: number,
  { sqlState = "HY000", message = "injected" }: InjectedError,
): Buffer {
  const text = Buffer.from(`#${sqlState}${message}`);
  const packet = Buffer.alloc(4 + 3 + text.length);
  packet.writeUIntLE(3 + text.length, 0, 3);
  packet[3] = 1;
  packet[4] = 0xff;
  packet.writeUInt16LE(errno, 5);
  text.copy(packet, 7);
  return packet;
}
