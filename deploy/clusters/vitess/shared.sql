-- In the keyspace `shared`: the tables of the sequences, and of the lookup vindex of API keys.
CREATE TABLE providers_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO providers_seq (id, next_id, cache) VALUES (0, 1, 1000);
CREATE TABLE api_keys_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence';
INSERT INTO api_keys_seq (id, next_id, cache) VALUES (0, 1, 1000);
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
CREATE TABLE api_key_lookup (key_hash BINARY(32) NOT NULL PRIMARY KEY, keyspace_id VARBINARY(128));
