SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(MAX(version) AS CHAR),
  CAST(MAX(watermark) AS CHAR),
  CAST(MAX(slot) AS CHAR),
  CAST(MAX(leaf) AS CHAR)
  FROM rollups WHERE provider_id = :provider AND format = 6 AND building = 0 AND watermark <= UTC_TIMESTAMP(3);
