SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(MAX(version) AS CHAR),
  NULL,
  NULL
  FROM rollups WHERE provider_id = :provider AND format = 5 AND building = 0 AND watermark <= UTC_TIMESTAMP(3)
UNION ALL
(SELECT 1,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:start AS DATETIME(3)) AND charged_at < CAST(:first AS DATETIME(3)) GROUP BY DATE(charged_at) ORDER BY NULL)
UNION ALL
(SELECT 2,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:tailFrom AS DATETIME(3)) AND charged_at < CAST(:after AS DATETIME(3)) GROUP BY DATE(charged_at) ORDER BY NULL)
UNION ALL
(SELECT 3,
  CAST(MIN(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR)
  FROM charges WHERE provider_id = :provider AND recorded_at > CAST(:watermark AS DATETIME(3)) AND charged_at >= CAST(:first AS DATETIME(3)) AND charged_at < CAST(:last AS DATETIME(3)) GROUP BY DATE(charged_at) ORDER BY NULL)
UNION ALL
(SELECT 4,
  CAST(at AS CHAR),
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(refunds AS CHAR)
  FROM rollup_sums WHERE provider_id = :provider AND format = 5 AND slot = :slot AND total = 1 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 5 AND slot = :slot AND total = 1 AND at <= CAST(:first AS DATETIME(3))))
UNION ALL
(SELECT 5,
  CAST(at AS CHAR),
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(refunds AS CHAR)
  FROM rollup_sums WHERE provider_id = :provider AND format = 5 AND slot = :slot AND total = 1 AND at IN (CAST(:end0 AS DATETIME(3)),
  CAST(:end1 AS DATETIME(3)),
  CAST(:end2 AS DATETIME(3)),
  CAST(:end3 AS DATETIME(3)),
  CAST(:end4 AS DATETIME(3)),
  CAST(:end5 AS DATETIME(3)),
  CAST(:end6 AS DATETIME(3)),
  CAST(:end7 AS DATETIME(3)),
  CAST(:end8 AS DATETIME(3)),
  CAST(:end9 AS DATETIME(3)),
  CAST(:end10 AS DATETIME(3)),
  CAST(:end11 AS DATETIME(3)),
  CAST(:end12 AS DATETIME(3)),
  CAST(:end13 AS DATETIME(3)),
  CAST(:end14 AS DATETIME(3)),
  CAST(:end15 AS DATETIME(3)),
  CAST(:end16 AS DATETIME(3)),
  CAST(:end17 AS DATETIME(3)),
  CAST(:end18 AS DATETIME(3)),
  CAST(:end19 AS DATETIME(3)),
  CAST(:end20 AS DATETIME(3)),
  CAST(:end21 AS DATETIME(3)),
  CAST(:end22 AS DATETIME(3)),
  CAST(:end23 AS DATETIME(3)),
  CAST(:end24 AS DATETIME(3)),
  CAST(:end25 AS DATETIME(3)),
  CAST(:end26 AS DATETIME(3)),
  CAST(:end27 AS DATETIME(3)),
  CAST(:end28 AS DATETIME(3)),
  CAST(:end29 AS DATETIME(3)),
  CAST(:end30 AS DATETIME(3)),
  CAST(:end31 AS DATETIME(3))));
