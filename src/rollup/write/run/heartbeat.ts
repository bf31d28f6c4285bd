/** The heartbeat of rollup runs: one row with the time of the last write, which replicas copy. */
import type { Knex } from "knex";

/** The time between two writes, in ms; a tenth less passes, since timers are inexact. */
export const HEARTBEAT_INTERVAL = 1_000;

/** The statement that writes it. */
export const WRITE_HEARTBEAT = `INSERT INTO heartbeat (id, written_at) VALUES (1, UTC_TIMESTAMP(3))
  ON DUPLICATE KEY UPDATE written_at = VALUES(written_at)`;

/** Writes the heartbeat, unless it was just written, or a write is under way. */
export type Heartbeat = (database: Knex) => Promise<void>;

/** Creates a heartbeat. The time of a write is that of the database's clock, in UTC. */
export function createHeartbeat(): Heartbeat {
  let writing = false;
  let writtenAt = Number.NEGATIVE_INFINITY;
  return async (database) => {
    const now = performance.now();
    if (writing || now - writtenAt < 0.9 * HEARTBEAT_INTERVAL) return;
    writing = true;
    try {
      await database.raw(WRITE_HEARTBEAT);
      writtenAt = now;
    } finally {
      writing = false;
    }
  };
}
