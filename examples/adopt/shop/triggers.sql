-- Tier 1: what becomes a charge or a rental in the shop's own transaction, and then what was paid before. A trigger runs
-- in whatever time zone its session has: recorded_at is in UTC by itself, updated_at is stated.
CREATE TRIGGER shop.charge_new AFTER INSERT ON shop.orders FOR EACH ROW
INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
SELECT NEW.merchant_id, NEW.machine_id, NEW.id, NEW.paid_at, NEW.total_cents * 0.01
FROM DUAL WHERE NEW.status = 'paid';

CREATE TRIGGER shop.charge_paid AFTER UPDATE ON shop.orders FOR EACH ROW
INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
SELECT NEW.merchant_id, NEW.machine_id, NEW.id, NEW.paid_at, NEW.total_cents * 0.01
FROM DUAL WHERE NEW.status = 'paid' AND OLD.status <> 'paid';

CREATE TRIGGER shop.rental_new AFTER INSERT ON shop.orders FOR EACH ROW
INSERT INTO revenue_tables.rentals (id, provider_id, server_id, started_at, ended_at, updated_at)
SELECT NEW.id, NEW.merchant_id, NEW.machine_id, NEW.booked_from, NEW.booked_until, UTC_TIMESTAMP(3)
FROM DUAL WHERE NEW.status = 'paid' AND NEW.total_cents >= 0;

CREATE TRIGGER shop.rental_paid AFTER UPDATE ON shop.orders FOR EACH ROW
INSERT INTO revenue_tables.rentals (id, provider_id, server_id, started_at, ended_at, updated_at)
SELECT NEW.id, NEW.merchant_id, NEW.machine_id, NEW.booked_from, NEW.booked_until, UTC_TIMESTAMP(3)
FROM DUAL WHERE NEW.status = 'paid' AND NEW.total_cents >= 0 AND OLD.status <> 'paid';

-- A booking without an end gets it later.
CREATE TRIGGER shop.rental_ended AFTER UPDATE ON shop.orders FOR EACH ROW
UPDATE revenue_tables.rentals SET ended_at = NEW.booked_until, updated_at = UTC_TIMESTAMP(3)
WHERE provider_id = NEW.merchant_id AND started_at = NEW.booked_from AND id = NEW.id
  AND NOT ended_at <=> NEW.booked_until;

-- From here on nothing is missed. What was there before follows. Both statements may run again: they leave out what is
-- there, and lock what they read, so that an order that is paid meanwhile comes once.
INSERT INTO revenue_tables.charges (provider_id, server_id, rental_id, charged_at, gross)
SELECT o.merchant_id, o.machine_id, o.id, o.paid_at, o.total_cents * 0.01
FROM shop.orders AS o
WHERE o.status = 'paid' AND NOT EXISTS (
  SELECT 1 FROM revenue_tables.charges AS c
  WHERE c.provider_id = o.merchant_id AND c.charged_at = o.paid_at AND c.rental_id = o.id
);

INSERT INTO revenue_tables.rentals (id, provider_id, server_id, started_at, ended_at, updated_at)
SELECT o.id, o.merchant_id, o.machine_id, o.booked_from, o.booked_until, UTC_TIMESTAMP(3)
FROM shop.orders AS o
WHERE o.status = 'paid' AND o.total_cents >= 0 AND NOT EXISTS (
  SELECT 1 FROM revenue_tables.rentals AS r
  WHERE r.provider_id = o.merchant_id AND r.started_at = o.booked_from AND r.id = o.id
);
