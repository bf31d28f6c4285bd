SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(COUNT(*) AS CHAR)
  FROM (SELECT 1 FROM charges FORCE INDEX (charges_by_recording) WHERE provider_id = :provider AND recorded_at <= UTC_TIMESTAMP(3) - INTERVAL 1800 SECOND LIMIT 2000) AS counted
UNION ALL
(SELECT 1,
  CAST(COUNT(*) AS CHAR),
  NULL
  FROM (SELECT 1 FROM rentals FORCE INDEX (rentals_by_update) WHERE provider_id = :provider AND updated_at <= UTC_TIMESTAMP(3) - INTERVAL 1800 SECOND LIMIT 2000) AS counted);
