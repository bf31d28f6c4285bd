-- In the keyspace `shared`: the sequences of ids.
CREATE TABLE providers_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO providers_seq (id, next_id, cache) VALUES (0, 1, 1000);
CREATE TABLE servers_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO servers_seq (id, next_id, cache) VALUES (0, 1, 1000);
CREATE TABLE instances_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO instances_seq (id, next_id, cache) VALUES (0, 1, 1000);
CREATE TABLE rentals_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO rentals_seq (id, next_id, cache) VALUES (0, 1, 1000);
CREATE TABLE charges_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO charges_seq (id, next_id, cache) VALUES (0, 1, 1000);
CREATE TABLE payouts_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO payouts_seq (id, next_id, cache) VALUES (0, 1, 1000);
