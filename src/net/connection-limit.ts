/**
 * Limits on open connections, of one process and of one client address. A connection beyond them is
 * reset as soon as it is accepted: it costs a descriptor for an instant.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { Addresses } from "./address.ts";

/** Open files that connections leave to listeners, the database, the log and files. */
const RESERVED_DESCRIPTORS = 256;

/** The parts of a connection limit. */
export interface ConnectionLimitParts {
  /** Open connections of all ports together. The limit of open files can lower it. */
  readonly maxConnections: number;
  /** Open connections of one address. Trusted proxies are exempt: they carry many clients. */
  readonly maxConnectionsPerAddress: number;
  /** Finds the address of a peer. */
  readonly addresses: Addresses;
  /** Counts refusals: `tooManyConnections`, `tooManyConnectionsOfAddress`. */
  readonly report?: ReportEvent;
  /** The process's limit of open files; by default the kernel's answer. */
  readonly openFiles?: number;
}

/**
 * Counts an accepted connection until it closes. False if it is beyond a limit: then it has been
 * destroyed, and must not be used.
 */
export type AcceptConnection = (socket: Socket) => boolean;

/** Creates the limits of one process, which all its ports share. */
export function createConnectionLimit({
  maxConnections,
  maxConnectionsPerAddress,
  addresses,
  report = () => {},
  openFiles = maxOpenFiles(),
}: ConnectionLimitParts): AcceptConnection {
  const limit = Math.min(maxConnections, descriptorsForConnections(openFiles));
  /** Never more entries than connections. */
  const perAddress = new Map<string, number>();
  let total = 0;

  function release(address: string | undefined): void {
    total--;
    if (address === undefined) return;
    const count = (perAddress.get(address) ?? 0) - 1;
    if (count > 0) perAddress.set(address, count);
    else perAddress.delete(address);
  }

  return (socket) => {
    if (total >= limit) return refuse(socket, "tooManyConnections");
    const { remoteAddress } = socket;
    const exempt = addresses.isTrusted(remoteAddress);
    const address = exempt ? undefined : addresses.peerOf(remoteAddress);
    if (address !== undefined) {
      const count = perAddress.get(address) ?? 0;
      if (count >= maxConnectionsPerAddress) return refuse(socket, "tooManyConnectionsOfAddress");
      perAddress.set(address, count + 1);
    }
    total++;
    socket.once("close", () => release(address));
    return true;
  };

  function refuse(socket: Socket, event: string): false {
    report(event);
    socket.on("error", () => {});
    // A reset leaves nothing behind in the kernel; a close would, for a minute.
    socket.resetAndDestroy();
    return false;
  }
}

/** How many of the open files may be connections: at least half of them. */
function descriptorsForConnections(openFiles: number): number {
  return Math.max(openFiles - RESERVED_DESCRIPTORS, Math.floor(openFiles / 2));
}

/** The process's limit of open files; Infinity where it is unknown. Node raises it to the hard limit. */
function maxOpenFiles(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
    return Number(soft ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
