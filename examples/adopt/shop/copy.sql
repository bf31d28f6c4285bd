-- Tier 1: the copy. It books what each order counts now, less what is booked of it: of one that is not there yet all,
-- of one that the triggers follow nothing. So it may run at any time, as often as you like, and mends what they missed.
SET NAMES utf8mb4;

-- What charges and rentals are made of. Of a charge, rental_id is the row's id * 10 + source, so ids of two tables differ.
CREATE TABLE IF NOT EXISTS revenue_tables.sources (
  source tinyint unsigned NOT NULL PRIMARY KEY,
  name varchar(64) NOT NULL,
  copied_to bigint unsigned NOT NULL DEFAULT 0
) ENGINE = InnoDB;
INSERT IGNORE INTO revenue_tables.sources (source, name) VALUES (0, 'shop.orders');

DELIMITER //
DROP PROCEDURE IF EXISTS revenue_tables.copy_orders//
CREATE PROCEDURE revenue_tables.copy_orders(IN first_id BIGINT UNSIGNED)
BEGIN
  DECLARE this_source INT DEFAULT 0;
  DECLARE a, b, last_id, provider, machine, source_id BIGINT UNSIGNED;
  DECLARE dated DATETIME(3);
  DECLARE difference DECIMAL(14,2);
  DECLARE booked INT DEFAULT 0;
  DECLARE is_done BOOLEAN DEFAULT FALSE;
  DECLARE differences CURSOR FOR
    SELECT provider_id, server_id, rental_id, IF(SUM(is_booked) > 0, UTC_TIMESTAMP(3), MIN(charged_at)), SUM(gross)
    FROM (
      SELECT merchant_id AS provider_id, machine_id AS server_id, id * 10 + this_source AS rental_id, paid_at AS charged_at,
        CAST((total_cents - CAST(refunded_cents AS SIGNED)) * 0.01 AS DECIMAL(14,2)) AS gross, 0 AS is_booked
      FROM shop.orders
      WHERE id BETWEEN a AND b AND status = 'paid' AND removed_at IS NULL AND paid_at > 0
      UNION ALL
      SELECT provider_id, server_id, rental_id, charged_at, -gross, 1
      FROM revenue_tables.charges
      WHERE rental_id BETWEEN a * 10 AND b * 10 + 9 AND rental_id % 10 = this_source
    ) AS both_sides
    GROUP BY provider_id, server_id, rental_id
    HAVING SUM(gross) <> 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET is_done = TRUE;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  -- SELECT ... INTO, never SET ... = (SELECT ...), which locks what it reads.
  SELECT GREATEST(
    COALESCE((SELECT MAX(id) FROM shop.orders), 0),
    COALESCE((SELECT MAX(rental_id) DIV 10 FROM revenue_tables.charges), 0)
  ) INTO last_id;
  SET a = first_id;
  WHILE a <= last_id DO
    -- A thousand orders in a transaction. READ COMMITTED: it locks no order, and reads each statement's own snapshot.
    SELECT IF(COUNT(*) = 1000, MAX(id), last_id) INTO b
    FROM (SELECT id FROM shop.orders WHERE id >= a ORDER BY id LIMIT 1000) AS next_ones;
    -- The COMMIT is for a session without autocommit, in which the SELECT has begun one.
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION;
    -- One copy at a time: the next one waits here, and then sees what this one has booked.
    UPDATE revenue_tables.sources SET copied_to = b WHERE source = this_source;
    SET is_done = FALSE;
    OPEN differences;
    FETCH differences INTO provider, machine, source_id, dated, difference;
    WHILE NOT is_done DO
      -- Row by row: while an INSERT ... SELECT runs, MariaDB lets no other INSERT take a number.
      INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
      VALUES (provider, machine, source_id, dated, difference);
      SET booked = booked + 1;
      FETCH differences INTO provider, machine, source_id, dated, difference;
    END WHILE;
    CLOSE differences;

    -- A rental that has ended is written once, and stays. One that runs has no end yet, and is written anew each time.
    DELETE FROM revenue_tables.rentals
    WHERE id BETWEEN a * 10 AND b * 10 + 9 AND id % 10 = this_source AND ended_at IS NULL;
    INSERT INTO revenue_tables.rentals (id, provider_id, server_id, started_at, ended_at, updated_at)
    SELECT o.id * 10 + this_source, o.merchant_id, o.machine_id, o.booked_from,
      IF(o.booked_until <= UTC_TIMESTAMP(3), o.booked_until, NULL), UTC_TIMESTAMP(3)
    FROM shop.orders AS o
    WHERE o.id BETWEEN a AND b AND o.status = 'paid' AND o.removed_at IS NULL AND o.paid_at > 0 AND o.total_cents >= 0
      AND NOT EXISTS (SELECT 1 FROM revenue_tables.rentals AS r WHERE r.id = o.id * 10 + this_source);
    COMMIT;
    SET a = b + 1;
  END WHILE;
  SELECT booked AS charges;
END//
DELIMITER ;
