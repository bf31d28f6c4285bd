/** The metrics as text: bounded labels, values that are counts of what was reported. */
import { expect, it } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics/metrics.ts";
import { providerKey } from "../../support/caller-key.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const CALL = {
  requestId: "r-1",
  protocol: "rest",
  method: "GetOverview",
  key: providerKey("7"),
  providerId: "7",
  milliseconds: 12,
  error: undefined,
};

/** The families of metrics, as text. */
const familiesOf = async (metrics: Metrics) => parseExposition(await metrics.render());

it("calls that failed are counted, as shed if a limit refused them, and as failed authentications", async () => {
  const metrics = createMetrics(() => true);
  const kinds = Object.keys(serviceErrors) as ServiceErrorKind[];
  for (const kind of kinds) {
    metrics.calls.started();
    metrics.calls.ended({ ...CALL, error: new ServiceError(kind) });
  }
  const families = await familiesOf(metrics);
  for (const reason of ["overloaded", "tooManyCalls", "rateLimited", "tooManyFailures"]) {
    expect(sumOf(families, "rpc_server_shed_calls_total", { reason }), reason).toBe(1);
  }
  expect(sumOf(families, "rpc_server_shed_calls_total")).toBe(4);
  // An invalid key, within the limit of its address and beyond it.
  expect(sumOf(families, "revenue_authentication_failures_total")).toBe(2);
  expect(sumOf(families, "rpc_server_call_duration_seconds_count")).toBe(kinds.length);
  expect(sumOf(families, "rpc_server_call_duration_seconds_count", { status: "OK" })).toBe(0);
  expect(sumOf(families, "rpc_server_active_calls")).toBe(0);
});

it("the lag is the largest of the last answers, and providers behind and without a rollup and dropped lines are counted", async () => {
  let dropped = 0;
  const metrics = createMetrics(
    () => false,
    () => dropped,
  );
  const before = await familiesOf(metrics);
  expect(before.get("revenue_replica_age_seconds")?.samples).toEqual([]);
  expect(sumOf(before, "revenue_log_lines_dropped_total")).toBe(0);
  dropped = 7;
  metrics.recordLag("1", 5_000, "current");
  metrics.recordLag("2", 7_200_000, "behind");
  metrics.recordLag("3", 9_000_000, "behind");
  metrics.recordLag("3", 0, "current");
  for (const provider of ["4", "5", "6"]) metrics.recordLag(provider, 0, "missing");
  metrics.recordLag("6", 60_000, "current");
  metrics.recordReplicaAge(1_250);
  const families = await familiesOf(metrics);
  expect(sumOf(families, "revenue_rollup_watermark_lag_seconds")).toBe(7_200);
  expect(sumOf(families, "revenue_rollup_providers_behind")).toBe(1);
  expect(sumOf(families, "revenue_rollup_providers_missing")).toBe(2);
  expect(sumOf(families, "revenue_replica_age_seconds")).toBe(1.25);
  expect(sumOf(families, "revenue_log_lines_dropped_total")).toBe(7);
  expect(families.get("revenue_ready")?.samples).toMatchObject([{ value: 0 }]);
});
