/** Connections that the system cannot accept, for want of memory or of open files. */
import type { Server } from "node:net";
import type { ReportEvent } from "../telemetry/event-log.ts";

/**
 * Reports them as `acceptFailed`. Node emits an error on the server for each, which would end the process
 * without a listener. An error of `listen` is not one of them: the server does not listen then.
 */
export function reportAcceptErrors(server: Server, report: ReportEvent): void {
  server.on("error", () => {
    if (server.listening) report("acceptFailed");
  });
}
