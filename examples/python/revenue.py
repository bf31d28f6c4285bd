"""Prints the year's earnings, and what each server earned in the last 30 days.

Needs REVENUE_URL and REVENUE_API_KEY, and nothing outside the standard library.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
from decimal import Decimal

RETRIED = {429, 500, 502, 503, 504}  # every request is safe to retry; Retry-After says when
ATTEMPTS = 4
TIMEOUT = 15  # seconds

try:
    URL, KEY = os.environ["REVENUE_URL"].rstrip("/"), os.environ["REVENUE_API_KEY"]
except KeyError as missing:
    sys.exit(f"set the environment variable {missing.args[0]}")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The service has no redirects, and the key must not go to another address."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def message_of(error):
    """The text of an error; a proxy in between has none in JSON."""
    try:
        body = json.load(error)
        return body.get("message", body["error"])
    except (OSError, http.client.HTTPException, ValueError):
        return error.reason


def get(path):
    """The JSON of a path. Numbers with a decimal point are Decimals, with all their digits."""
    request = urllib.request.Request(
        URL + path, headers={"X-API-Key": KEY, "Accept": "application/json"}
    )
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with OPENER.open(request, timeout=TIMEOUT) as response:
                return json.load(response, parse_float=Decimal)
        except urllib.error.HTTPError as error:
            if error.code not in RETRIED or attempt == ATTEMPTS:
                request_id = error.headers.get("x-request-id")
                sys.exit(f"{error.code} {message_of(error)} (request {request_id})")
            seconds = error.headers.get("Retry-After", "")
            time.sleep((int(seconds) if seconds.isdigit() else 1) * attempt)
        except (OSError, http.client.HTTPException, ValueError) as error:  # refused, cut off, no JSON
            if attempt == ATTEMPTS:
                sys.exit(f"the service cannot be reached: {error}")
            time.sleep(attempt)


summary = get("/api/provider/revenue")["summary"]
print("earnings this year:", summary["totalEarningsYTD"])
print("balance:", summary["availableBalance"])

for day in get("/api/provider/revenue/daily")["days"]:
    print(f"{day['earnings']:>14}  {day['date']}")

breakdown = get("/api/provider/revenue/servers")
print("revenue from", breakdown["startDate"], "to", breakdown["endDate"])
for server in breakdown["servers"]:
    print(f"{server['totalRevenue']:>14}  {server['serverName']}")
print(f"{sum((server['totalRevenue'] for server in breakdown['servers']), Decimal(0)):>14}  in all")
