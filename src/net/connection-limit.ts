/** A limit on open connections. One beyond it is reset as soon as it is accepted: it costs a descriptor for an instant. */
import type { Socket } from "node:net";
import type { ReportEvent } from "../telemetry/event-log.ts";

/**
 * Counts an accepted connection until it closes. False if it is beyond a limit: then it has been
 * destroyed, and must not be used.
 */
export type AcceptConnection = (socket: Socket) => boolean;

/** Creates the limit of a port. Refusals are counted as `tooManyConnections`. */
export function createConnectionLimit(max: number, report: ReportEvent): AcceptConnection {
  let total = 0;
  return (socket) => {
    if (total >= max) {
      report("tooManyConnections");
      socket.on("error", () => {});
      socket.resetAndDestroy();
      return false;
    }
    total++;
    socket.once("close", () => total--);
    return true;
  };
}
