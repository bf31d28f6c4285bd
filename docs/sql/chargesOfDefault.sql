SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(NULL AS CHAR),
  CAST(MAX(available_balance) AS CHAR),
  NULL,
  NULL,
  NULL,
  NULL,
  NULL,
  NULL
  FROM wallets WHERE provider_id = :provider
UNION ALL
(SELECT 1,
  CAST(page.charged_at AS CHAR),
  CAST(page.id AS CHAR),
  CAST(page.public_id AS CHAR),
  CAST(page.recorded_at AS CHAR),
  CAST(page.gross AS CHAR),
  CAST(servers.uuid AS CHAR),
  CAST(servers.name AS CHAR),
  CAST(instances.public_id AS CHAR),
  CAST(instances.name AS CHAR)
  FROM (SELECT /*+ INDEX(charges PRIMARY) */ id, public_id, charged_at, recorded_at, server_id, instance_id, gross
  FROM charges WHERE provider_id = :provider AND (charged_at = CAST(:at AS DATETIME(3)) AND id < CAST(:id AS DECIMAL(20,0)) OR charged_at >= CAST(:start AS DATETIME(3)) AND charged_at < CAST(:before AS DATETIME(3)) AND (CAST(charged_at AS CHAR) < :place OR CAST(charged_at AS CHAR) = :place AND id < CAST(:id AS DECIMAL(20,0)))) ORDER BY charged_at DESC, id DESC LIMIT 51) AS page LEFT JOIN servers ON servers.provider_id = :provider AND servers.id = page.server_id LEFT JOIN instances ON instances.provider_id = :provider AND instances.id = page.instance_id);
