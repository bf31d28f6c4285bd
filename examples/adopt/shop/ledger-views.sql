-- Tier 0: charges and rentals as views, too. An order that is not paid yet is neither. No statement of tier 0 reads
-- recorded_at and updated_at, so any time stands for them.
CREATE VIEW charges AS
SELECT merchant_id AS provider_id, machine_id AS server_id, CAST(NULL AS UNSIGNED) AS instance_id,
  paid_at AS charged_at, CAST(total_cents * 0.01 AS DECIMAL(14,2)) AS gross, paid_at AS recorded_at
FROM shop.orders WHERE status = 'paid';

CREATE VIEW rentals AS
SELECT merchant_id AS provider_id, machine_id AS server_id, CAST(NULL AS UNSIGNED) AS instance_id,
  booked_from AS started_at, booked_until AS ended_at, booked_from AS updated_at
FROM shop.orders WHERE status = 'paid' AND total_cents >= 0;
