SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(MAX(version) AS CHAR),
  NULL,
  NULL
  FROM rollups WHERE provider_id = :provider AND format = 6 AND building = 0 AND watermark <= UTC_TIMESTAMP(3)
UNION ALL
(SELECT 1,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM charges WHERE provider_id = :provider AND recorded_at > CAST(:watermark AS DATETIME(3)) AND charged_at <= CAST(:watermark AS DATETIME(3)) AND charged_at >= CAST(:first AS DATETIME(3)) AND charged_at < CAST(:last AS DATETIME(3)) GROUP BY DATE(charged_at), INTERVAL(TIME_TO_SEC(charged_at),
  CAST(:time0 AS SIGNED),
  CAST(:time1 AS SIGNED),
  CAST(:time2 AS SIGNED),
  CAST(:time3 AS SIGNED)) ORDER BY NULL)
UNION ALL
(SELECT 2,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:start AS DATETIME(3)) AND charged_at < CAST(:first AS DATETIME(3)) GROUP BY DATE(charged_at), INTERVAL(TIME_TO_SEC(charged_at),
  CAST(:time0 AS SIGNED),
  CAST(:time1 AS SIGNED),
  CAST(:time2 AS SIGNED),
  CAST(:time3 AS SIGNED)) ORDER BY NULL)
UNION ALL
(SELECT 3,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:tailFrom AS DATETIME(3)) AND charged_at < CAST(:after AS DATETIME(3)) GROUP BY DATE(charged_at), INTERVAL(TIME_TO_SEC(charged_at),
  CAST(:time0 AS SIGNED),
  CAST(:time1 AS SIGNED),
  CAST(:time2 AS SIGNED),
  CAST(:time3 AS SIGNED)) ORDER BY NULL)
UNION ALL
(SELECT 4,
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(refunds AS CHAR),
  NULL
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at <= CAST(:boundary AS DATETIME(3))) AND server_id = 0 AND instance_id = 0)
UNION ALL
(SELECT 5,
  CAST(SUM(gross) AS CHAR),
  CAST(SUM(charges) AS CHAR),
  CAST(SUM(refunds) AS CHAR),
  NULL
  FROM rollup_increments WHERE provider_id = :provider AND format = 6 AND slot = :slot AND length = 1440 AND part = 0 GROUP BY provider_id)
UNION ALL
(SELECT 6,
  CAST(at AS CHAR),
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(refunds AS CHAR)
  FROM rollup_increments WHERE provider_id = :provider AND format = 6 AND slot = :slot AND length = 1440 AND part = 0 AND at >= CAST(:from AS DATETIME(3)) AND at < CAST(:to AS DATETIME(3)));
