#!/bin/sh
# Prints the year's figures, and the last 30 days per server and instance, and per day, as CSV.
# Needs REVENUE_URL and REVENUE_API_KEY.
set -eu
api=${REVENUE_URL%/}/api/provider/revenue

# The key comes from a file descriptor, so that it is in no process list. --retry retries 408, 429,
# 500, 502, 503 and 504 after the time in Retry-After.
request() {
  curl --silent --show-error --fail-with-body --compressed --max-time 30 --retry 3 \
    --header @/dev/fd/3 "$@" 3<<HEADERS
X-API-Key: $REVENUE_API_KEY
HEADERS
}

# Prints the body of the response; that of an error goes to the standard error.
get() {
  body=$(request "$@") || { printf '%s\n' "$body" >&2; return 1; }
  printf '%s\n' "$body"
}

# With jq 1.7 or later, which keeps the digits: printf '%s' "$overview" | jq .summary
overview=$(get "$api")
printf '%s\n' "$overview" | grep -o '"summary":{[^}]*}'
get --header 'Accept: text/csv' "$api/servers"
get --header 'Accept: text/csv' "$api/daily"
