SELECT 0,
  CAST(UTC_TIMESTAMP(3) AS CHAR),
  CAST(page.id AS CHAR),
  CAST(page.name AS CHAR)
  FROM (SELECT 1 AS one) AS single LEFT JOIN ( SELECT id, name
  FROM providers WHERE id > CAST(:after AS DECIMAL(20,0)) ORDER BY id LIMIT 1001 ) AS page ON one = 1;
