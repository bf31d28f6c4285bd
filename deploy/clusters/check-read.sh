#!/bin/sh
# check-read.sh: the primary, or a replica that applies changes and is at most 10 s behind.
# NULL: its primary is gone, and it is as recent as possible.
exec 2>/dev/null
host=$3 port=$4
ask() { timeout 1 mariadb --no-defaults -h"$host" -P"$port" -uha "$@"; }
[ "$(ask -N -B -e 'SELECT @@global.read_only')" = 0 ] && exit 0
status=$(ask -E -e 'SHOW REPLICA STATUS')
echo "$status" | grep -q 'Slave_SQL_Running: Yes' || exit 1
lag=$(echo "$status" | sed -n 's/^ *Seconds_Behind_Master: //p')
[ "$lag" = NULL ] || [ "$lag" -le 10 ]
