#!/bin/sh
# Makes the secrets of deploy/compose.yaml in deploy/secrets/: random passwords, and the database
# URLs of three accounts. Files that exist are kept, because the database has their passwords.
set -eu
deploy=$(dirname "$0")/..
secrets=${1:-"$deploy/secrets"}
mkdir -p "$secrets"
# The folder keeps other users of this machine out. The files themselves must be readable by the
# users of the containers: compose mounts them as they are.
chmod 700 "$secrets"
umask 022
# So must the files of the checkout that it mounts, whatever umask they were made with.
chmod -R a+rX "$deploy/compose" "$deploy/prometheus" "$deploy/grafana"

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# create NAME TEXT
create() {
  [ -e "$secrets/$1" ] || printf '%s\n' "$2" >"$secrets/$1"
}

create database_root_password "$(random)"
create grafana_admin_password "$(random)"
for account in migrate service rollup; do
  create "${account}_database_url" "mysql://revenue_$account:$(random)@database:3306/revenue"
done
