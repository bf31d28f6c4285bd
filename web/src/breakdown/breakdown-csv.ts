/**
 * A breakdown as CSV: a row for each server, followed by a row for each of its instances. The same
 * as the service's own (`Accept: text/csv`), but of the figures on the page, to the byte.
 */
import { decimal, type ServerBreakdown } from "../../../clients/typescript/src/index.ts";
import { csvOf, digits, text } from "../export/csv.ts";

const HEADER = [
  ...["serverId", "serverName", "serverType", "status"],
  ...["totalRevenue", "totalRentals", "activeRentals", "instanceId", "instanceName"],
];

/**
 * Writes the rows in the order of the response, with its digits. A server's row has no instance,
 * and its figures include those of its instances: add up the rows without an `instanceId`.
 */
export function breakdownCsv(servers: readonly ServerBreakdown[]): string {
  const rows = servers.flatMap((server) => {
    const { serverId, serverName, serverType, status, instances } = server;
    const common = [serverId, serverName, serverType, status].map(text);
    return [
      [...common, ...figures(server), text(""), text("")],
      ...instances.map((instance) => [
        ...common,
        ...figures(instance),
        text(instance.instanceId),
        text(instance.instanceName),
      ]),
    ];
  });
  return csvOf(HEADER, rows);
}

type Figures = Pick<ServerBreakdown, "totalRevenue" | "totalRentals" | "activeRentals">;

function figures({ totalRevenue, totalRentals, activeRentals }: Figures) {
  return [digits(decimal(totalRevenue)), digits(totalRentals), digits(activeRentals)];
}
