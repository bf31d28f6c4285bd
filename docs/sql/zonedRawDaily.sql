SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(MAX(available_balance) AS CHAR),
  NULL,
  NULL
  FROM wallets WHERE provider_id = :provider
UNION ALL
(SELECT 1,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM (SELECT charged_at, recorded_at, gross, DATE(charged_at) AS date0, DATE(charged_at - INTERVAL :time0 SECOND) AS date1, DATE(charged_at - INTERVAL :time1 SECOND) AS date2, DATE(charged_at - INTERVAL :time2 SECOND) AS date3, DATE(charged_at - INTERVAL :time3 SECOND) AS date4
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:start AS DATETIME(3)) AND charged_at < CAST(:after AS DATETIME(3))) AS charge GROUP BY date0, date1, date2, date3, date4 ORDER BY NULL);
