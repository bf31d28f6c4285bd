#!/bin/sh
# check-group-member.sh: online, in a group that has its majority, and less than 1,000 transactions behind
exec 2>/dev/null
[ "$(timeout 1 mariadb --no-defaults -h"$3" -P"$4" -uha -N -B -e "SELECT SUM(member_id = @@server_uuid AND member_state = 'ONLINE') = 1 AND SUM(member_state IN ('ONLINE', 'RECOVERING')) * 2 > COUNT(*) AND (SELECT COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE < 1000 FROM performance_schema.replication_group_member_stats WHERE member_id = @@server_uuid) FROM performance_schema.replication_group_members")" = 1 ]
