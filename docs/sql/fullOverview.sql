SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(MAX(version) AS CHAR),
  CAST((SELECT available_balance
  FROM wallets WHERE provider_id = :provider) AS CHAR),
  CAST((SELECT name
  FROM providers WHERE id = :provider) AS CHAR),
  NULL,
  NULL
  FROM rollups WHERE provider_id = :provider AND format = 6 AND building = 0 AND watermark <= UTC_TIMESTAMP(3)
UNION ALL
(SELECT 1,
  CAST(server_id AS CHAR),
  CAST(MAX(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR),
  NULL
  FROM charges WHERE provider_id = :provider AND charged_at > CAST(:watermark AS DATETIME(3)) AND charged_at <= CAST(:now AS DATETIME(3)) GROUP BY server_id, EXTRACT(YEAR_MONTH FROM charged_at) - (DAY(charged_at) = 0) ORDER BY NULL)
UNION ALL
(SELECT 2,
  CAST(server_id AS CHAR),
  CAST(MAX(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR),
  NULL
  FROM charges WHERE provider_id = :provider AND recorded_at > CAST(:watermark AS DATETIME(3)) AND charged_at <= CAST(:watermark AS DATETIME(3)) GROUP BY server_id, EXTRACT(YEAR_MONTH FROM charged_at) - (DAY(charged_at) = 0) ORDER BY NULL)
UNION ALL
(SELECT 3,
  CAST(id AS CHAR),
  CAST(uuid AS CHAR),
  CAST(name AS CHAR),
  CAST(price_per_hour AS CHAR),
  CAST(deleted_at IS NOT NULL AS CHAR),
  NULL
  FROM servers WHERE provider_id = :provider)
UNION ALL
(SELECT 4,
  CAST(public_id AS CHAR),
  CAST(paid_at AS CHAR),
  CAST(amount AS CHAR),
  CAST(method AS CHAR),
  CAST(status AS CHAR),
  CAST(id AS CHAR)
  FROM payouts WHERE provider_id = :provider ORDER BY paid_at DESC, id DESC LIMIT 10)
UNION ALL
(SELECT 5,
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(refunds AS CHAR),
  NULL,
  NULL,
  NULL
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 1 AND at <= CAST(:boundary AS DATETIME(3))) AND server_id = 0 AND instance_id = 0)
UNION ALL
(SELECT 6,
  CAST(at AS CHAR),
  CAST(gross AS CHAR),
  CAST(charges AS CHAR),
  CAST(refunds AS CHAR),
  NULL,
  NULL
  FROM rollup_increments WHERE provider_id = :provider AND format = 6 AND slot = :slot AND length = 43200 AND part = 0)
UNION ALL
(SELECT 7,
  CAST(server_id AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(SUM(charges) AS CHAR),
  CAST(SUM(refunds) AS CHAR),
  NULL,
  NULL
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 0 AND at = (SELECT MAX(at)
  FROM rollup_sums WHERE provider_id = :provider AND format = 6 AND slot = :slot AND total = 0 AND at <= CAST(:boundary AS DATETIME(3))) AND charges > 0 GROUP BY server_id);
