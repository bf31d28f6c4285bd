SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(MAX(version) AS CHAR),
  CAST((SELECT available_balance
  FROM wallets WHERE provider_id = :provider) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL,
  NULL,
  NULL
  FROM rollups WHERE provider_id = :provider AND format = 6 AND building = 0 AND watermark <= UTC_TIMESTAMP(3)
UNION ALL
(SELECT 1,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM charges WHERE provider_id = :provider AND recorded_at > CAST(:watermark AS DATETIME(3)) AND charged_at <= CAST(:watermark AS DATETIME(3)) AND charged_at >= CAST(:first AS DATETIME(3)) AND charged_at < CAST(:last AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 2,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(CASE WHEN (ended_at IS NULL OR ended_at >= CAST(:start AS DATETIME(3))) AND started_at < CAST(:after AS DATETIME(3)) THEN 1 ELSE 0 END) AS CHAR),
  CAST(SUM(CASE WHEN ended_at IS NULL OR ended_at > CAST(:now AS DATETIME(3)) THEN 1 ELSE 0 END) AS CHAR),
  CAST(SUM(GREATEST(CASE WHEN ended_at IS NULL OR ended_at >= CAST(:after AS DATETIME(3)) THEN CAST(:until AS SIGNED) ELSE GREATEST(COALESCE(LEAST(TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', ended_at) DIV 1000, TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', LAST_DAY(ended_at)) DIV 1000 + 86399999), TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01',
  CAST(CONCAT(LPAD(YEAR(ended_at), 4, '0'), '-01-01') AS DATETIME) + INTERVAL GREATEST(MONTH(ended_at), 1) - 1 MONTH) DIV 1000 - 1, 0), 0) END - CASE WHEN started_at < CAST(:start AS DATETIME(3)) THEN CAST(:from AS SIGNED) ELSE GREATEST(COALESCE(LEAST(TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', started_at) DIV 1000, TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', LAST_DAY(started_at)) DIV 1000 + 86399999), TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01',
  CAST(CONCAT(LPAD(YEAR(started_at), 4, '0'), '-01-01') AS DATETIME) + INTERVAL GREATEST(MONTH(started_at), 1) - 1 MONTH) DIV 1000 - 1, 0), 0) END, 0)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM rentals WHERE provider_id = :provider AND (ended_at IS NULL AND started_at >= CAST(:start AS DATETIME(3)) OR ended_at > CAST(:watermark AS DATETIME(3)) AND ended_at >= started_at) AND started_at <= CAST(:now AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 3,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(COUNT(*) * CAST(GREATEST(CAST(:until AS SIGNED) - CAST(:from AS SIGNED), 0) AS DECIMAL(20,0)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM rentals WHERE provider_id = :provider AND ended_at IS NULL AND started_at < CAST(:start AS DATETIME(3)) AND started_at <= CAST(:now AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 4,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:start AS DATETIME(3)) AND charged_at < CAST(:first AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 5,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM charges WHERE provider_id = :provider AND charged_at >= CAST(:tailFrom AS DATETIME(3)) AND charged_at < CAST(:after AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 6,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(CASE WHEN started_at >= CAST(:last AS DATETIME(3)) AND started_at < CAST(:after AS DATETIME(3)) THEN 1 ELSE 0 END) AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(CAST(:until AS SIGNED) * CASE WHEN started_at >= CAST(:last AS DATETIME(3)) AND started_at < CAST(:after AS DATETIME(3)) THEN 1 ELSE 0 END - CAST(:from AS SIGNED) * CASE WHEN started_at >= CAST(:headFrom AS DATETIME(3)) AND started_at < CAST(:headTo AS DATETIME(3)) THEN CAST(:headSign AS SIGNED) ELSE 0 END - GREATEST(COALESCE(LEAST(TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', started_at) DIV 1000, TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', LAST_DAY(started_at)) DIV 1000 + 86399999), TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01',
  CAST(CONCAT(LPAD(YEAR(started_at), 4, '0'), '-01-01') AS DATETIME) + INTERVAL GREATEST(MONTH(started_at), 1) - 1 MONTH) DIV 1000 - 1, 0), 0) * (CASE WHEN started_at >= CAST(:last AS DATETIME(3)) AND started_at < CAST(:after AS DATETIME(3)) THEN 1 ELSE 0 END - CASE WHEN started_at >= CAST(:headFrom AS DATETIME(3)) AND started_at < CAST(:headTo AS DATETIME(3)) THEN CAST(:headSign AS SIGNED) ELSE 0 END)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM rentals WHERE provider_id = :provider AND (started_at >= CAST(:headFrom AS DATETIME(3)) AND started_at < CAST(:headTo AS DATETIME(3)) OR started_at >= CAST(:last AS DATETIME(3)) AND started_at < CAST(:after AS DATETIME(3))) AND ended_at >= started_at AND updated_at <= CAST(:watermark AS DATETIME(3)) AND ended_at <= CAST(:watermark AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 7,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(- SUM(CASE WHEN ended_at >= CAST(:headFrom AS DATETIME(3)) AND ended_at < CAST(:headTo AS DATETIME(3)) THEN CAST(:headSign AS SIGNED) ELSE 0 END) AS CHAR),
  CAST(0 AS CHAR),
  CAST(- SUM(CAST(:until AS SIGNED) * CASE WHEN ended_at >= CAST(:last AS DATETIME(3)) AND ended_at < CAST(:after AS DATETIME(3)) THEN 1 ELSE 0 END - CAST(:from AS SIGNED) * CASE WHEN ended_at >= CAST(:headFrom AS DATETIME(3)) AND ended_at < CAST(:headTo AS DATETIME(3)) THEN CAST(:headSign AS SIGNED) ELSE 0 END - GREATEST(COALESCE(LEAST(TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', ended_at) DIV 1000, TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', LAST_DAY(ended_at)) DIV 1000 + 86399999), TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01',
  CAST(CONCAT(LPAD(YEAR(ended_at), 4, '0'), '-01-01') AS DATETIME) + INTERVAL GREATEST(MONTH(ended_at), 1) - 1 MONTH) DIV 1000 - 1, 0), 0) * (CASE WHEN ended_at >= CAST(:last AS DATETIME(3)) AND ended_at < CAST(:after AS DATETIME(3)) THEN 1 ELSE 0 END - CASE WHEN ended_at >= CAST(:headFrom AS DATETIME(3)) AND ended_at < CAST(:headTo AS DATETIME(3)) THEN CAST(:headSign AS SIGNED) ELSE 0 END)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM rentals WHERE provider_id = :provider AND (ended_at >= CAST(:headFrom AS DATETIME(3)) AND ended_at < CAST(:headTo AS DATETIME(3)) OR ended_at >= CAST(:last AS DATETIME(3)) AND ended_at < CAST(:after AS DATETIME(3))) AND ended_at >= started_at AND updated_at <= CAST(:watermark AS DATETIME(3)) AND ended_at <= CAST(:watermark AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 8,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(CASE WHEN (ended_at IS NULL OR ended_at >= CAST(:start AS DATETIME(3))) AND started_at < CAST(:after AS DATETIME(3)) THEN 1 ELSE 0 END) AS CHAR),
  CAST(SUM(CASE WHEN ended_at IS NULL OR ended_at > CAST(:now AS DATETIME(3)) THEN 1 ELSE 0 END) AS CHAR),
  CAST(SUM(GREATEST(CASE WHEN ended_at IS NULL OR ended_at >= CAST(:after AS DATETIME(3)) THEN CAST(:until AS SIGNED) ELSE GREATEST(COALESCE(LEAST(TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', ended_at) DIV 1000, TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', LAST_DAY(ended_at)) DIV 1000 + 86399999), TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01',
  CAST(CONCAT(LPAD(YEAR(ended_at), 4, '0'), '-01-01') AS DATETIME) + INTERVAL GREATEST(MONTH(ended_at), 1) - 1 MONTH) DIV 1000 - 1, 0), 0) END - CASE WHEN started_at < CAST(:start AS DATETIME(3)) THEN CAST(:from AS SIGNED) ELSE GREATEST(COALESCE(LEAST(TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', started_at) DIV 1000, TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', LAST_DAY(started_at)) DIV 1000 + 86399999), TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01',
  CAST(CONCAT(LPAD(YEAR(started_at), 4, '0'), '-01-01') AS DATETIME) + INTERVAL GREATEST(MONTH(started_at), 1) - 1 MONTH) DIV 1000 - 1, 0), 0) END, 0)) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL
  FROM rentals WHERE provider_id = :provider AND updated_at > CAST(:watermark AS DATETIME(3)) AND ended_at <= CAST(:watermark AS DATETIME(3)) AND ended_at >= started_at AND (ended_at IS NULL OR ended_at >= CAST(:start AS DATETIME(3))) AND started_at < CAST(:after AS DATETIME(3)) GROUP BY provider_id ORDER BY NULL)
UNION ALL
(SELECT 9,
  CAST(SUM(CASE WHEN CAST(CAST(status AS CHAR) AS BINARY) = 'Completed' THEN amount ELSE 0.00 END) AS CHAR),
  CAST(SUM(CASE WHEN NOT CAST(CAST(status AS CHAR) AS BINARY) = 'Completed' THEN amount ELSE 0.00 END) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL,
  NULL,
  NULL,
  NULL
  FROM payouts WHERE provider_id = :provider AND paid_at >= CAST(:start AS DATETIME(3)) AND paid_at < CAST(:after AS DATETIME(3)) GROUP BY provider_id)
UNION ALL
(SELECT 10,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(SUM(charges) AS CHAR),
  CAST(SUM(started) AS CHAR),
  CAST(SUM(ended) AS CHAR),
  CAST(SUM(refunds) AS CHAR),
  CAST(SUM(started_ms) AS CHAR),
  CAST(SUM(ended_ms) AS CHAR)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 0 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 0 AND at <= CAST(:boundary AS DATETIME(3))) GROUP BY provider_id)
UNION ALL
(SELECT 11,
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(started AS CHAR),
  CAST(ended AS CHAR),
  CAST(refunds AS CHAR),
  CAST(started_ms AS CHAR),
  CAST(ended_ms AS CHAR),
  NULL,
  NULL
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at <= CAST(:boundary AS DATETIME(3))) AND server_id = 0 AND instance_id = 0)
UNION ALL
(SELECT 12,
  CAST(0 AS CHAR),
  CAST(0 AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(SUM(charges) AS CHAR),
  CAST(SUM(started) AS CHAR),
  CAST(SUM(ended) AS CHAR),
  CAST(SUM(refunds) AS CHAR),
  CAST(SUM(started_ms) AS CHAR),
  CAST(SUM(ended_ms) AS CHAR)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 0 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 0 AND at <= CAST(:other AS DATETIME(3))) GROUP BY provider_id)
UNION ALL
(SELECT 13,
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(started AS CHAR),
  CAST(ended AS CHAR),
  CAST(refunds AS CHAR),
  CAST(started_ms AS CHAR),
  CAST(ended_ms AS CHAR),
  NULL,
  NULL
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at <= CAST(:other AS DATETIME(3))) AND server_id = 0 AND instance_id = 0);
