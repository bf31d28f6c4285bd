SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(NULL AS CHAR),
  CAST(MAX(available_balance) AS CHAR),
  NULL,
  NULL,
  NULL
  FROM wallets WHERE provider_id = :provider
UNION ALL
(SELECT 1,
  CAST(public_id AS CHAR),
  CAST(paid_at AS CHAR),
  CAST(amount AS CHAR),
  CAST(method AS CHAR),
  CAST(status AS CHAR),
  CAST(id AS CHAR)
  FROM (SELECT /*+ INDEX(payouts PRIMARY) */ public_id, paid_at, amount, method, status, id
  FROM payouts WHERE provider_id = :provider AND (paid_at = CAST(:at AS DATETIME(3)) AND id < CAST(:id AS DECIMAL(20,0)) OR paid_at >= CAST(:start AS DATETIME(3)) AND paid_at < CAST(:before AS DATETIME(3)) AND (CAST(paid_at AS CHAR) < :place OR CAST(paid_at AS CHAR) = :place AND id < CAST(:id AS DECIMAL(20,0)))) ORDER BY paid_at DESC, id DESC LIMIT 51) AS page);
