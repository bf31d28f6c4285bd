-- The ledger of a shop that rents out machines, as a platform may have it: amounts are whole cents, an order has a
-- status and may be removed softly, and a refund is an order below zero, or a part of an order. It was there before the
-- service, and it stays as it is.
SET NAMES utf8mb4;
CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;

CREATE TABLE shop.merchants (
  id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name varchar(80) NOT NULL,
  balance_cents bigint NOT NULL DEFAULT 0
);

CREATE TABLE shop.machines (
  id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  merchant_id int unsigned NOT NULL,
  uuid char(36) NOT NULL UNIQUE,
  title varchar(120) NOT NULL,
  category varchar(40) NOT NULL,
  state varchar(10) NOT NULL DEFAULT 'on',
  cents_per_hour int unsigned NOT NULL,
  removed_at datetime NULL,
  KEY machines_by_merchant (merchant_id)
);

CREATE TABLE shop.orders (
  id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  merchant_id int unsigned NOT NULL,
  machine_id int unsigned NOT NULL,
  status varchar(10) NOT NULL DEFAULT 'open',
  total_cents bigint NOT NULL,
  refunded_cents int unsigned NOT NULL DEFAULT 0,
  booked_from datetime(3) NOT NULL,
  booked_until datetime(3) NULL,
  paid_at datetime(3) NULL,
  removed_at datetime NULL,
  KEY orders_by_payment (merchant_id, paid_at),
  KEY orders_by_booking (merchant_id, booked_until)
);

CREATE TABLE shop.settlements (
  id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  merchant_id int unsigned NOT NULL,
  reference varchar(30) NOT NULL,
  sent_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  cents bigint NOT NULL,
  channel varchar(30) NOT NULL,
  state varchar(10) NOT NULL,
  KEY settlements_by_merchant (merchant_id, sent_at)
);

SET time_zone = '+00:00';
INSERT INTO shop.merchants (id, name, balance_cents) VALUES (1, 'Crane & Co', 120050), (2, 'Digger', 0);
INSERT INTO shop.machines (id, merchant_id, uuid, title, category, state, cents_per_hour, removed_at) VALUES
  (1, 1, '0b0c7a52-1111-4b8e-9a53-0d8f5b1c2e71', 'Crane 1', 'Crane', 'on', 1250, NULL),
  (2, 1, '0b0c7a52-2222-4b8e-9a53-0d8f5b1c2e71', 'Crane 2', 'Crane', 'repair', 999, NULL),
  (3, 1, '0b0c7a52-3333-4b8e-9a53-0d8f5b1c2e71', 'Crane 0', 'Crane', 'on', 500, '2026-02-01 00:00:00'),
  (4, 2, '0b0c7a52-4444-4b8e-9a53-0d8f5b1c2e71', 'Digger', 'Digger', 'on', 700, NULL);
INSERT INTO shop.orders (merchant_id, machine_id, status, total_cents, booked_from, booked_until, paid_at) VALUES
  (1, 1, 'paid', 2500, '2026-01-05 08:00:00', '2026-01-05 10:00:00', '2026-01-05 10:00:01.250'),
  (1, 1, 'paid', -500, '2026-01-05 08:00:00', '2026-01-05 10:00:00', '2026-01-07 09:00:00'),
  (1, 2, 'paid', 999, '2026-01-06 08:00:00', '2026-01-06 09:00:00', '2026-01-06 09:00:00'),
  (1, 3, 'paid', 12345, '2026-01-08 00:00:00', '2026-01-09 00:00:00', '2026-01-09 00:00:00'),
  (1, 1, 'open', 5000, '2026-01-10 00:00:00', NULL, NULL),
  (2, 4, 'paid', 700, '2026-01-05 08:00:00', '2026-01-05 09:00:00', '2026-01-05 09:00:00');
INSERT INTO shop.settlements (merchant_id, reference, sent_at, cents, channel, state) VALUES
  (1, 'SET-1', '2026-01-31 12:00:00', 10000, 'Bank Transfer', 'sent');
