SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(NULL AS CHAR),
  CAST(MAX(available_balance) AS CHAR),
  CAST((SELECT name
  FROM providers WHERE id = :provider) AS CHAR),
  NULL,
  NULL
  FROM wallets WHERE provider_id = :provider
UNION ALL
(SELECT 1,
  CAST(server_id AS CHAR),
  CAST(MAX(charged_at) AS CHAR),
  CAST(SUM(gross) AS CHAR),
  CAST(COUNT(*) AS CHAR),
  CAST(SUM(LEAST(gross, 0.00)) AS CHAR),
  NULL
  FROM charges WHERE provider_id = :provider AND charged_at <= CAST(:now AS DATETIME(3)) GROUP BY server_id, EXTRACT(YEAR_MONTH FROM charged_at) - (DAY(charged_at) = 0) ORDER BY NULL)
UNION ALL
(SELECT 2,
  CAST(id AS CHAR),
  CAST(uuid AS CHAR),
  CAST(name AS CHAR),
  CAST(price_per_hour AS CHAR),
  CAST(deleted_at IS NOT NULL AS CHAR),
  NULL
  FROM servers WHERE provider_id = :provider)
UNION ALL
(SELECT 3,
  CAST(public_id AS CHAR),
  CAST(paid_at AS CHAR),
  CAST(amount AS CHAR),
  CAST(method AS CHAR),
  CAST(status AS CHAR),
  CAST(id AS CHAR)
  FROM payouts WHERE provider_id = :provider ORDER BY paid_at DESC, id DESC LIMIT 10);
