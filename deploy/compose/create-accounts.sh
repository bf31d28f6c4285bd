#!/bin/sh
# Creates an account for each command that uses the database, with the password in its URL. The
# database image runs it once, when it initializes an empty volume.
#
# The tables do not exist yet, so the rollups' account may write to all of them. On a database that
# matters use the narrower GRANTs in docs/deployment.md.
(
  set -eu
  secrets=${SECRETS_FOLDER:-/run/secrets}
  MYSQL_PWD=$(cat "$secrets/database_root_password")
  export MYSQL_PWD

  # account NAME PRIVILEGES: SQL for the account in the URL mysql://user:password@host:port/database
  account() {
    url=$(cat "$secrets/$1_database_url")
    login=${url#mysql://}
    login=${login%%@*}
    database=${url##*/}
    cat <<SQL
CREATE USER '${login%%:*}'@'%' IDENTIFIED BY '${login#*:}';
GRANT $2 ON \`$database\`.* TO '${login%%:*}'@'%';
SQL
  }

  {
    account migrate 'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX'
    account service 'SELECT'
    account rollup 'SELECT, INSERT, UPDATE, DELETE'
  } | mariadb --user=root
)
