-- What is small, as views over the shop's tables: read through to them, so the service sees what they hold now. All of
-- them are merged into the statements that read them. `instances` is missing: a shop without parts of machines needs
-- none, and `npm run migrate` makes an empty table.
SET NAMES utf8mb4;

CREATE VIEW providers AS SELECT id, name FROM shop.merchants;

CREATE VIEW wallets AS
SELECT id AS provider_id, CAST(balance_cents * 0.01 AS DECIMAL(14,2)) AS available_balance
FROM shop.merchants;

CREATE VIEW servers AS
SELECT id, merchant_id AS provider_id, uuid COLLATE utf8mb4_bin AS uuid, title AS name, category AS type,
  CASE state WHEN 'on' THEN 'Active' ELSE 'Maintenance' END AS status,
  CAST(cents_per_hour * 0.01 AS DECIMAL(12,4)) AS price_per_hour,
  CAST(removed_at AS DATETIME(3)) AS deleted_at
FROM shop.machines;

CREATE VIEW payouts AS
SELECT id, merchant_id AS provider_id, reference COLLATE utf8mb4_bin AS public_id,
  CAST(sent_at AS DATETIME(3)) AS paid_at, CAST(cents * 0.01 AS DECIMAL(14,2)) AS amount, channel AS method,
  CASE state WHEN 'sent' THEN 'Completed' WHEN 'failed' THEN 'Failed' ELSE 'Pending' END AS status
FROM shop.settlements;
