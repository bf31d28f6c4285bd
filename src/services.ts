/** The services of the contract: for whom each is, and where it is served. */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { PlatformRevenueService } from "../gen/revenue/v1/platform_pb.ts";
import { RevenueService } from "../gen/revenue/v1/revenue_pb.ts";
import type { Config } from "./config.ts";

/** The RPCs of all services, by their names in TypeScript. */
export const METHODS = { ...RevenueService.method, ...PlatformRevenueService.method };

/** Whether an RPC is for service keys alone, and about no single provider. */
export function isForPlatform({ parent }: Pick<DescMethod, "parent">): boolean {
  return parent.typeName === PlatformRevenueService.typeName;
}

/** The services of a port: what is for service keys alone is served where these are accepted. */
export function servicesOn(
  port: "grpc" | "http",
  serviceKeys: Config["serviceKeys"],
): readonly DescService[] {
  const acceptsServiceKeys = serviceKeys === "all" || serviceKeys === port;
  return acceptsServiceKeys ? [RevenueService, PlatformRevenueService] : [RevenueService];
}
