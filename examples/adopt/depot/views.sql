-- The numbers of accounts and devices: a table of the depot's own. Each gets its number with its row, by a trigger, so
-- none is missing: a join drops a row without one in silence.
SET NAMES utf8mb4;

CREATE TABLE depot.numbers (
  uid binary(16) NOT NULL PRIMARY KEY,
  id bigint unsigned NOT NULL AUTO_INCREMENT UNIQUE
);
CREATE TRIGGER depot.number_account AFTER INSERT ON depot.accounts FOR EACH ROW
INSERT INTO depot.numbers (uid) VALUES (NEW.uid);
CREATE TRIGGER depot.number_device AFTER INSERT ON depot.devices FOR EACH ROW
INSERT INTO depot.numbers (uid) VALUES (NEW.uid);
INSERT IGNORE INTO depot.numbers (uid) SELECT uid FROM depot.accounts;
INSERT IGNORE INTO depot.numbers (uid) SELECT uid FROM depot.devices;

CREATE VIEW providers AS
SELECT n.id, a.title AS name FROM depot.numbers AS n JOIN depot.accounts AS a ON a.uid = n.uid;

CREATE VIEW wallets AS
SELECT n.id AS provider_id, CAST(a.credit AS DECIMAL(14,2)) AS available_balance
FROM depot.numbers AS n JOIN depot.accounts AS a ON a.uid = n.uid;

CREATE VIEW servers AS
SELECT d.id, n.id AS provider_id,
  LOWER(INSERT(INSERT(INSERT(INSERT(HEX(s.uid), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'))
    COLLATE utf8mb4_bin AS uuid,
  s.label AS name, 'Lift' AS type, 'Active' AS status, CAST(0 AS DECIMAL(12,4)) AS price_per_hour,
  CAST(NULL AS DATETIME(3)) AS deleted_at
FROM depot.numbers AS n
JOIN depot.devices AS s ON s.account_uid = n.uid
JOIN depot.numbers AS d ON d.uid = s.uid;

-- The id of a charge only orders those of one instant, so no table has it: half of the UUID's bits are a number.
CREATE VIEW charges AS
SELECT COALESCE(CAST(CONV(RIGHT(HEX(e.uid), 16), 16, 10) AS UNSIGNED), CAST(0 AS UNSIGNED)) AS id, n.id AS provider_id, d.id AS server_id, CAST(NULL AS UNSIGNED) AS instance_id,
  CAST(e.booked_at AS DATETIME(3)) AS charged_at, CAST(e.amount AS DECIMAL(14,2)) AS gross,
  CAST(e.booked_at AS DATETIME(3)) AS recorded_at, LOWER(HEX(e.uid)) COLLATE utf8mb4_bin AS public_id
FROM depot.numbers AS n
JOIN depot.entries AS e ON e.account_uid = n.uid
JOIN depot.numbers AS d ON d.uid = e.device_uid;
