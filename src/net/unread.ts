/**
 * A limit on the response bytes that clients have not read yet, of all connections together. The
 * limits of one connection do not bound their sum. Beyond it, the connections with the most unread
 * bytes are closed (over gRPC the streams), and before them those of responses that need no key: nobody
 * who has none may cost others theirs.
 */
import type { ReportEvent } from "../telemetry/event-log.ts";

/**
 * The default of `maxUnreadBytes`. What is made until the next check comes on top, as does garbage: with 2,000
 * connections of one key that pipeline 300 KB and read nothing, 192 MiB came to 425 to 479 MiB of the process.
 */
export const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

/** How often the sum is checked, in ms. */
const INTERVAL = 250;

/** A connection, or a stream of one, with response bytes that its client has not read. */
export interface Unread {
  /** How many bytes the process holds for it. */
  readonly bytes: number;
  /** Whether the response is one that needs no key. Default: no. */
  readonly isPublic?: boolean;
  /** Closes it and frees them. Must not throw. */
  close(): void;
}

/** The connections or streams of one port. Those without unread bytes may be left out. */
export type UnreadSource = () => Iterable<Unread>;

/** What is limited, and how. */
interface UnreadLimit {
  /** The connections of each port. */
  readonly sources: readonly UnreadSource[];
  /** Unread bytes of all connections together. */
  readonly maxUnreadBytes?: number;
  /** Counts connections that are closed: `tooManyUnreadBytes`. */
  readonly report?: ReportEvent;
}

/** Starts to check the limit of one process. The check does not keep the process alive. */
export function limitUnread({
  sources,
  maxUnreadBytes = MAX_UNREAD_BYTES,
  report = () => {},
}: UnreadLimit): void {
  function check(): void {
    const connections = sources.flatMap((source) => [...source()]);
    let excess = connections.reduce((sum, { bytes }) => sum + bytes, -maxUnreadBytes);
    if (excess <= 0) return;
    connections.sort(
      (one, other) =>
        Number(other.isPublic ?? false) - Number(one.isPublic ?? false) || other.bytes - one.bytes,
    );
    for (const connection of connections) {
      if (excess <= 0) return;
      excess -= connection.bytes;
      connection.close();
      report("tooManyUnreadBytes");
    }
  }
  setInterval(check, INTERVAL).unref();
}
