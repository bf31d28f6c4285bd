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
  CAST(:time3 AS SIGNED)) ORDER BY NULL);
