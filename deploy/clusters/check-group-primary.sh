#!/bin/sh
# check-group-primary.sh: the primary, in a group that has its majority
exec 2>/dev/null
[ "$(timeout 1 mariadb --no-defaults -h"$3" -P"$4" -uha -N -B -e "SELECT SUM(member_id = @@server_uuid AND member_state = 'ONLINE' AND member_role = 'PRIMARY') = 1 AND SUM(member_state IN ('ONLINE', 'RECOVERING')) * 2 > COUNT(*) FROM performance_schema.replication_group_members")" = 1 ]
