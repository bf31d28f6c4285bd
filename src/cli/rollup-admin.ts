/** The admin port of `npm run rollup`: its metrics and its health. */
import { startDatabaseProbe } from "../admin/database-probe.ts";
import { createReadiness } from "../admin/readiness.ts";
import { createAdminServer } from "../admin/server.ts";
import type { DatabaseTarget } from "../config.ts";
import { listen } from "../net/listen.ts";
import type { Log } from "../telemetry/log.ts";
import { createRunMetrics } from "../telemetry/metrics/runs.ts";

/** The admin port of the command, and what runs report to it. */
export type RollupAdmin = Awaited<ReturnType<typeof startRollupAdmin>>;

/**
 * Starts the port, and logs its address. To dispose of it closes it.
 *
 * @param port 0 picks a free one
 * @param signal aborts when the command begins to stop
 * @throws Error that names the flag and the port if it cannot be listened on
 */
export async function startRollupAdmin(
  url: DatabaseTarget,
  host: string,
  port: number,
  signal: AbortSignal,
  log: Log,
) {
  const readiness = createReadiness();
  const { render, ...metrics } = createRunMetrics(() => readiness.isReady());
  const admin = createAdminServer({ metrics: render, readiness });
  const bound = await listen("--admin-port", port, (number) => admin.listen(host, number));
  log.info({ adminHost: host, adminPort: bound }, "listening");
  const stopProbe = startDatabaseProbe({ statements: {}, url, readiness });
  signal.addEventListener("abort", () => readiness.set("shutdown", "the process is stopping"));
  return {
    ...metrics,
    async [Symbol.asyncDispose]() {
      await Promise.all([admin.close(), stopProbe()]);
    },
  };
}
