#!/bin/sh
# check-writable.sh: a server that is not read-only, which is the primary
exec 2>/dev/null
[ "$(timeout 1 mariadb --no-defaults -h"$3" -P"$4" -uha -N -B -e 'SELECT @@global.read_only')" = 0 ]
