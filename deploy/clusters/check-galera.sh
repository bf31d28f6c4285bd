#!/bin/sh
# check-galera.sh: in sync, part of the cluster, replicating, not desynchronized
exec 2>/dev/null
state=$(timeout 1 mariadb --no-defaults -h"$3" -P"$4" -uha -N -B -e "SHOW STATUS WHERE Variable_name IN ('wsrep_local_state','wsrep_ready'); SELECT @@wsrep_on, @@wsrep_desync" | tr '\t\n' '  ')
[ "$state" = "wsrep_local_state 4 wsrep_ready ON 1 0 " ]
