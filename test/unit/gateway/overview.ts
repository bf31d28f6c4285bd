/** GetOverview over Connect and gRPC-Web, for the tests of the gateway. */
import { create } from "@bufbuild/protobuf";
import {
  type GetOverviewResponse,
  GetOverviewResponseSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import type { Call } from "./gateway.ts";

/** A response with one figure. */
export const overview: GetOverviewResponse = create(GetOverviewResponseSchema, {
  summary: { availableBalance: { value: "4500.00" } },
});

/** Decodes the request and responds with `overview`. */
export const handleOverview = (call: Call) => {
  call.request();
  return overview;
};

/** The path of GetOverview. */
export const PATH = "/revenue.v1.RevenueService/GetOverview";

/** The header of a JSON request. */
export const JSON_BODY = "Content-Type: application/json";
