/** The heartbeat of rollup runs: one row with the time of the last write, which replicas copy. */

/** The time between two writes, in ms. */
export const HEARTBEAT_INTERVAL = 1_000;

/** The statement that writes it: the time is that of the database's clock, in UTC. */
export const WRITE_HEARTBEAT = `INSERT INTO heartbeat (id, written_at) VALUES (1, UTC_TIMESTAMP(3))
  ON DUPLICATE KEY UPDATE written_at = VALUES(written_at)`;
