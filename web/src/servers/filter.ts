/** Which servers are shown. */
import type { ServerBreakdown } from "../../../clients/typescript/src/index.ts";
import { hundredths } from "../amount/decimal-text.ts";

/** What a server has to be like. */
export interface Filter {
  /** A part of its name, or of the name of an instance. */
  readonly word: string;
  /** Its status; empty for any. */
  readonly status: string;
  /** Whether it had no revenue. */
  readonly idle: boolean;
}

/** The filter that lets every server pass. */
export const EVERY: Filter = { word: "", status: "", idle: false };

/** The servers that a filter lets pass. */
export function filterServers(servers: readonly ServerBreakdown[], filter: Filter) {
  if (filter === EVERY) return servers;
  const word = filter.word.trim().toLowerCase();
  const namesOf = ({ serverName, instances }: ServerBreakdown) => [
    serverName,
    ...instances.map(({ instanceName }) => instanceName),
  ];
  return servers.filter(
    (server) =>
      namesOf(server).some((name) => name.toLowerCase().includes(word)) &&
      (filter.status === "" || server.status === filter.status) &&
      (!filter.idle || hundredths(server.totalRevenue) <= 0n),
  );
}
