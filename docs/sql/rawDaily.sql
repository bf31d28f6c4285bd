SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(NULL AS CHAR),
  CAST(MAX(available_balance) AS CHAR),
  NULL
  FROM wallets WHERE provider_id = :provider
UNION ALL
(SELECT 1,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:start AS DATETIME(3)) AND charged_at < CAST(:after AS DATETIME(3)) GROUP BY DATE(charged_at), INTERVAL(TIME_TO_SEC(charged_at),
  CAST(:time0 AS SIGNED),
  CAST(:time1 AS SIGNED),
  CAST(:time2 AS SIGNED),
  CAST(:time3 AS SIGNED)) ORDER BY NULL);
