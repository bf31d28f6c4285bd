-- Tier 1, by triggers: each writes the charge that makes up the difference, f(NEW) - f(OLD), where f is what an order
-- counts (0 unless it is paid). They read nothing, so they wait for nobody, and a history of any kind adds up to what
-- the order counts at its end. This file may run again: what happened while a trigger was away is the copy's.
SET NAMES utf8mb4;
-- To make a trigger, the server waits for open transactions on the table, and payments for the server. So it gives up
-- after a second (error 1205): run the file again when those are through.
SET lock_wait_timeout = 1;

DELIMITER //

DROP TRIGGER IF EXISTS shop.charge_new//
CREATE TRIGGER shop.charge_new AFTER INSERT ON shop.orders FOR EACH ROW
BEGIN
  DECLARE is_now DECIMAL(14,2) DEFAULT IF(NEW.status = 'paid' AND NEW.removed_at IS NULL AND NEW.paid_at > 0,
    COALESCE(NEW.total_cents - CAST(NEW.refunded_cents AS SIGNED), 0) * 0.01, 0);
  IF is_now <> 0 THEN
    INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
    VALUES (NEW.merchant_id, NEW.machine_id, NEW.id * 10 + 0, NEW.paid_at, is_now);
  END IF;
END//

DROP TRIGGER IF EXISTS shop.charge_changed//
CREATE TRIGGER shop.charge_changed AFTER UPDATE ON shop.orders FOR EACH ROW
BEGIN
  DECLARE was DECIMAL(14,2) DEFAULT IF(OLD.status = 'paid' AND OLD.removed_at IS NULL AND OLD.paid_at > 0,
    COALESCE(OLD.total_cents - CAST(OLD.refunded_cents AS SIGNED), 0) * 0.01, 0);
  DECLARE is_now DECIMAL(14,2) DEFAULT IF(NEW.status = 'paid' AND NEW.removed_at IS NULL AND NEW.paid_at > 0,
    COALESCE(NEW.total_cents - CAST(NEW.refunded_cents AS SIGNED), 0) * 0.01, 0);
  -- Of another merchant or machine, or with another id: all of it goes from the old one, and comes to the new one.
  IF was <> 0 AND NOT (OLD.id <=> NEW.id AND OLD.merchant_id <=> NEW.merchant_id AND OLD.machine_id <=> NEW.machine_id)
  THEN
    INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
    VALUES (OLD.merchant_id, OLD.machine_id, OLD.id * 10 + 0, UTC_TIMESTAMP(3), -was);
    SET was = 0;
  END IF;
  -- What is paid is of the day of its payment, a correction of today.
  IF is_now <> was THEN
    INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
    VALUES (NEW.merchant_id, NEW.machine_id, NEW.id * 10 + 0,
      IF(was = 0 AND NOT OLD.paid_at <=> NEW.paid_at, NEW.paid_at, UTC_TIMESTAMP(3)), is_now - was);
  END IF;
END//

DROP TRIGGER IF EXISTS shop.charge_gone//
CREATE TRIGGER shop.charge_gone AFTER DELETE ON shop.orders FOR EACH ROW
BEGIN
  DECLARE was DECIMAL(14,2) DEFAULT IF(OLD.status = 'paid' AND OLD.removed_at IS NULL AND OLD.paid_at > 0,
    COALESCE(OLD.total_cents - CAST(OLD.refunded_cents AS SIGNED), 0) * 0.01, 0);
  IF was <> 0 THEN
    INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
    VALUES (OLD.merchant_id, OLD.machine_id, OLD.id * 10 + 0, UTC_TIMESTAMP(3), -was);
  END IF;
END//

DELIMITER ;
