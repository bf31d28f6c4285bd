/** The typed client of the revenue service, for Node and browsers. */
export { Code, ConnectError } from "@connectrpc/connect";
export {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";
export type { Decimal } from "../../../gen/google/type/decimal_pb.ts";
export * from "../../../gen/revenue/v1/platform_pb.ts";
export * from "../../../gen/revenue/v1/revenue_pb.ts";
export {
  type ApiKey,
  createPlatformClient,
  createRevenueClient,
  createRevenueTransport,
  type PlatformClientOptions,
  type RevenueCaller,
  type RevenueClientOptions,
} from "./client.ts";
export { decimal } from "./decimal.ts";
export { RETRIES, retryAfter } from "./retry.ts";
