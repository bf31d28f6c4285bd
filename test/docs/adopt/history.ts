/** Random statements of a shop about its orders: whatever a platform does to rows that it was paid for. */
import type { Random } from "../../../dev/random.ts";

/** How many orders a history is about: few, so that much happens to each. */
const ORDERS = 12;
const ZONES = ["+00:00", "+09:00", "-05:00", "+05:45"];
const STATUSES = ["open", "paid", "paid", "paid", "disputed"];

/** Draws the next statement about a table. Each may be refused for a key of the table's own, and then does nothing. */
export function drawStatement(random: Random, table: string): string {
  const whole = (below: number) => random.integer(0, below);
  const id = 1 + whole(ORDERS);
  const day = (prefix: string) =>
    `'${prefix}-${String(1 + whole(28)).padStart(2, "0")} 10:00:00.25'`;
  const paidAt = () => random.pick([day("2026-01"), day("2026-02"), "NULL"]);
  const cents = () => (random.happens(0.2) ? -whole(5_000) : whole(90_000));
  const order = () =>
    `(${id}, ${1 + whole(3)}, ${1 + whole(4)}, '${random.pick(STATUSES)}', ${cents()}, ${whole(3) && whole(900)},
      ${day("2025-12")}, ${paidAt()}, ${random.pick(["NULL", "NULL", day("2026-03")])})`;
  const rows = `INTO ${table}
    (id, merchant_id, machine_id, status, total_cents, refunded_cents, booked_from, paid_at, removed_at) VALUES`;
  const set = random.pick([
    `status = 'paid', paid_at = ${day("2026-02")}`,
    "status = 'paid'",
    `paid_at = ${paidAt()}`,
    "status = 'disputed'",
    "status = IF(status = 'paid', 'disputed', 'paid')",
    `refunded_cents = refunded_cents + ${whole(400)}`,
    "refunded_cents = ABS(total_cents)",
    `total_cents = ${cents()}`,
    `merchant_id = ${1 + whole(3)}`,
    `machine_id = ${1 + whole(4)}`,
    `merchant_id = ${1 + whole(3)}, total_cents = total_cents + 1, paid_at = ${paidAt()}`,
    "removed_at = IF(removed_at IS NULL, UTC_TIMESTAMP(), NULL)",
    `booked_until = ${day("2026-01")}`,
    `id = ${1 + whole(ORDERS)}`,
  ]);
  return random.pick([
    `UPDATE ${table} SET ${set} WHERE id = ${id}`,
    `UPDATE ${table} SET ${set} WHERE id = ${id}`,
    `UPDATE ${table} SET ${set} WHERE id = ${id}`,
    `UPDATE ${table} SET ${set} WHERE machine_id = ${1 + whole(4)}`,
    `INSERT ${rows} ${order()}`,
    `INSERT IGNORE ${rows} ${order()}, (${1 + whole(ORDERS)}, 1, 1, 'paid', 77, 0, '2026-01-01', '2026-01-01', NULL)`,
    `INSERT ${rows} ${order()} ON DUPLICATE KEY UPDATE total_cents = total_cents + 1, status = 'paid'`,
    `REPLACE ${rows} ${order()}`,
    `DELETE FROM ${table} WHERE id = ${id}`,
    "START TRANSACTION",
    "ROLLBACK",
    "COMMIT",
    "SAVEPOINT here",
    "ROLLBACK TO SAVEPOINT here",
    `SET time_zone = '${random.pick(ZONES)}'`,
  ]);
}
