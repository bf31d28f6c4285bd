"""Prints the year's earnings, and what each server earned in the last 30 days, over gRPC.

Needs REVENUE_GRPC (host:port) and REVENUE_API_KEY, and the types generated from the proto (examples/README.md).
"""

import os
import sys
from decimal import Decimal
from pathlib import Path

import grpc
from google.rpc import error_details_pb2, status_pb2

from revenue.v1 import revenue_pb2, revenue_pb2_grpc

TIMEOUT = 15  # seconds, of a call with all its retries

# gRPC itself balances over the addresses of the service, leaves out those that are not healthy, and retries
# what was refused, when the service says so. Every request is safe to retry.
SERVICE_CONFIG = (Path(__file__).parent.parent / "go/service-config.json").read_text()

try:
    ADDRESS, KEY = os.environ["REVENUE_GRPC"], os.environ["REVENUE_API_KEY"]
except KeyError as missing:
    sys.exit(f"set the environment variable {missing.args[0]}")


def reason_of(error):
    """The reason of an error. Programs branch on it, not on the text."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return info.reason
    return error.code().name


def main():
    # In production: grpc.secure_channel(…, grpc.ssl_channel_credentials(), …).
    # A breakdown of 20,000 servers with their instances is larger than the 4 MiB that clients accept by default.
    limit = ("grpc.max_receive_message_length", 64 * 1024 * 1024)
    options = [("grpc.service_config", SERVICE_CONFIG), limit]
    with grpc.insecure_channel(f"dns:///{ADDRESS}", options=options) as channel:
        service = revenue_pb2_grpc.RevenueServiceStub(channel)
        # The names of metadata are in lower case.
        call = {"metadata": [("x-api-key", KEY)], "timeout": TIMEOUT}

        summary = service.GetOverview(revenue_pb2.GetOverviewRequest(), **call).summary
        # Amounts are decimal strings.
        print("earnings this year:", summary.total_earnings_ytd.value)
        print("balance:", summary.available_balance.value)

        request = revenue_pb2.GetServerBreakdownRequest()
        servers = service.GetServerBreakdown(request, **call).servers
        for server in servers:
            print(f"{server.total_revenue.value:>14}  {server.server_name}")
        total = sum((Decimal(server.total_revenue.value) for server in servers), Decimal(0))
        print(f"{total:>14}  in all")


try:
    main()
except grpc.RpcError as error:
    sys.exit(f"{reason_of(error)}: {error.details()}")
