-- What the depot earned for each account: the query of examples/adopt/compare.ts. An account without a number is told as
-- provider NULL.
SELECT n.id AS provider, DATE_FORMAT(e.booked_at, '%Y-%m') AS month,
  SUM(e.amount) AS gross, SUM(LEAST(e.amount, 0)) AS refunds, COUNT(*) AS charges
FROM depot.entries AS e
LEFT JOIN depot.numbers AS n ON n.uid = e.account_uid
WHERE e.booked_at >= @start AND e.booked_at < @end
GROUP BY provider, month;
