/** The metrics of the code, each with a sample, as a scrape would see them. */
import { createMetrics } from "../../src/telemetry/metrics/metrics.ts";
import { createRunMetrics } from "../../src/telemetry/metrics/runs.ts";
import { providerKey } from "../support/caller-key.ts";

/** The text of the metrics of the service, and of the rollup command. */
export async function metricTexts(): Promise<Readonly<Record<"service" | "rollup", string>>> {
  const service = createMetrics(() => true);
  service.calls.ended({
    requestId: "r-1",
    protocol: "rest",
    method: "GetOverview",
    key: providerKey("1"),
    providerId: "1",
    milliseconds: 1,
    error: undefined,
  });
  service.observeHttpRequest({ method: "GET", route: "/", status: 200, milliseconds: 1 });
  const connections = () => ({ idle: 0, used: 1 });
  const reads = service.observePool({ name: "calls", max: 1, connections });
  reads.waits();
  reads.waited(1);
  reads.ran("overview", 1);
  service.limitEvent("responseTimeout");
  service.observeGrpc(() => ({ connections: 1, streams: 1 }));
  service.rejectedRequest(404);
  service.recordReplicaAge(1);
  service.observeCertificates(
    () => ({ expiresAt: 0 }),
    () => 0,
  );
  return {
    service: await service.render(),
    rollup: await createRunMetrics(() => true).render(),
  };
}
