-- What the shop earned for each merchant, by its own books: the query of examples/adopt/compare.ts.
SELECT merchant_id AS provider, DATE_FORMAT(paid_at, '%Y-%m') AS month,
  SUM(total_cents - CAST(refunded_cents AS SIGNED)) * 0.01 AS gross,
  SUM(LEAST(total_cents - CAST(refunded_cents AS SIGNED), 0)) * 0.01 AS refunds, COUNT(*) AS charges
FROM shop.orders
WHERE status = 'paid' AND removed_at IS NULL AND paid_at >= @start AND paid_at < @end
GROUP BY provider, month;
