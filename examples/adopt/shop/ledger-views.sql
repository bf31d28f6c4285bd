-- Tier 0: charges and rentals as views, too. An order that is not paid yet, or that is removed, is neither. recorded_at
-- is what the list of charges shows as the time of recording; updated_at is not read without rollups.
SET NAMES utf8mb4;

-- An unsigned number minus a greater one is an error, so it is made a signed one before.
CREATE VIEW charges AS
SELECT id, merchant_id AS provider_id, machine_id AS server_id, CAST(NULL AS UNSIGNED) AS instance_id,
  paid_at AS charged_at, CAST((total_cents - CAST(refunded_cents AS SIGNED)) * 0.01 AS DECIMAL(14,2)) AS gross,
  paid_at AS recorded_at, CAST(NULL AS CHAR(64)) COLLATE utf8mb4_bin AS public_id
FROM shop.orders WHERE status = 'paid' AND removed_at IS NULL AND paid_at > 0;

CREATE VIEW rentals AS
SELECT merchant_id AS provider_id, machine_id AS server_id, CAST(NULL AS UNSIGNED) AS instance_id,
  booked_from AS started_at, booked_until AS ended_at, booked_from AS updated_at
FROM shop.orders WHERE status = 'paid' AND removed_at IS NULL AND paid_at > 0 AND total_cents >= 0;
