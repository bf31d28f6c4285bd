/** Which servers the page shows, and what it calls them. */
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ServerBreakdownSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { EVERY, type Filter, filterServers } from "../../../web/src/servers/filter.ts";
import { visibleName } from "../../../web/src/visible-name.ts";

const server = (serverName: string, status: string, gross: string, instanceName = "") =>
  create(ServerBreakdownSchema, {
    serverName,
    status,
    totalRevenue: { value: gross },
    instances: [{ instanceName }],
  });

const SERVERS = [
  server("Alpha", "Active", "1.00", "gpu-7"),
  server("beta", "Active", "0.00"),
  server("gamma", "Deleted", "-1.00"),
  server("delta", "Maintenance", "0.01"),
];

it.each<[Partial<Filter>, string[]]>([
  [{}, ["Alpha", "beta", "gamma", "delta"]],
  [{ word: " GPU-7 " }, ["Alpha"]],
  [{ idle: true, status: "Active" }, ["beta"]],
])("by %j are shown %j", (filter, expected) => {
  const shown = filterServers(SERVERS, { ...EVERY, ...filter });
  expect(shown.map(({ serverName }) => serverName)).toEqual(expected);
});

it.each([
  ["\u200b\u2060\u3164\u2800", "the id"],
  ["a\u2066b\u0007c", "a\ufffdb\ufffdc"],
  // Marks of direction and joiners are of names.
  ["חווה\u200f-7", "חווה\u200f-7"],
  ["👩\u200d💻", "👩\u200d💻"],
])("the name %j is shown as %j", (name, expected) => {
  expect(visibleName(name, "the id")).toBe(expected);
});
