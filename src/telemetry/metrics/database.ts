/** Metrics of reads from the database and of the connection pools. */
import { addDurations, addGauge, type MetricsRegistry } from "./registry.ts";

/** A pool, by its name in labels. */
export interface ObservedPool {
  readonly name: string;
  /** Its size. */
  readonly max: number;
  /** Its connections now. */
  readonly connections: () => { readonly idle: number; readonly used: number };
}

/** Measures the reads of one pool. Times are in ms. */
export type ReadMetrics = ReturnType<ReturnType<typeof addDatabaseMetrics>>;

/** Adds the metrics of reads to a registry. The function adds a pool. */
export function addDatabaseMetrics(registry: MetricsRegistry) {
  const pools: (ObservedPool & { waiting: number })[] = [];
  const perPool = (read: (pool: (typeof pools)[number]) => number) => () =>
    pools.map((pool) => ({ labels: { pool: pool.name }, value: read(pool) }));

  const durations = addDurations(registry, {
    name: "db_client_operation_duration_seconds",
    help: "Time of a statement, by its short name.",
    labels: ["operation"],
  });
  const waits = addDurations(registry, {
    name: "db_client_connection_wait_time_seconds",
    help: "Time that a read waited for a connection.",
    labels: ["pool"],
  });
  addGauge(
    registry,
    {
      name: "db_client_connection_count",
      help: "Connections of a pool.",
      labels: ["pool", "state"],
    },
    () =>
      pools.flatMap(({ name: pool, connections }) =>
        Object.entries(connections()).map(([state, value]) => ({ labels: { pool, state }, value })),
      ),
  );
  addGauge(
    registry,
    { name: "db_client_connection_max", help: "The size of a pool.", labels: ["pool"] },
    perPool(({ max }) => max),
  );
  addGauge(
    registry,
    {
      name: "db_client_connection_pending_requests",
      help: "Reads that wait for a connection.",
      labels: ["pool"],
    },
    perPool(({ waiting }) => waiting),
  );

  return (observed: ObservedPool) => {
    const pool = { ...observed, waiting: 0 };
    pools.push(pool);
    const ofPool = waits.labels({ pool: pool.name });
    return {
      /** A read begins to wait for a connection. */
      waits: () => pool.waiting++,
      /** It has a connection, or has given up. */
      waited(milliseconds: number) {
        pool.waiting--;
        ofPool.observe(milliseconds / 1_000);
      },
      /** A statement has ended, `milliseconds` after it was sent. */
      ran: (operation: string, milliseconds: number) =>
        durations.observe({ operation }, milliseconds / 1_000),
    };
  };
}
