/** Lifetime revenue of each server. */
import { useMemo } from "preact/hooks";
import { decimal, type ServerRevenue } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { permille, scaled } from "../amount/decimal-text.ts";
import { csvOf, digits, text } from "../export/csv.ts";
import { ExportBar } from "../export/export-bar.tsx";
import { type Column, useSorting } from "../table/sorting.ts";
import { Table } from "../table/table.tsx";

const COLUMNS: readonly Column<ServerRevenue>[] = [
  { title: "Server", value: ({ serverName }) => serverName },
  { title: "Share", numeric: true, value: ({ grossRevenue }) => scaled(decimal(grossRevenue)) },
  {
    title: "Earnings",
    numeric: true,
    value: ({ totalEarnings }) => scaled(decimal(totalEarnings)),
  },
  { title: "Fees", numeric: true, value: ({ platformFees }) => scaled(decimal(platformFees)) },
  { title: "Gross", numeric: true, value: ({ grossRevenue }) => scaled(decimal(grossRevenue)) },
  { title: "Hours", numeric: true, value: ({ totalHours }) => scaled(decimal(totalHours)) },
  {
    title: "Price/hour",
    numeric: true,
    value: ({ pricePerHour }) => scaled(decimal(pricePerHour)),
  },
];

/** The service sorts by gross revenue. */
const FIRST = COLUMNS.findIndex(({ title }) => title === "Gross");

/** Shows the servers. */
export function Servers({ servers }: { servers: readonly ServerRevenue[] }) {
  const sorting = useSorting(servers, COLUMNS, FIRST);
  const whole = useMemo(
    () => servers.reduce((sum, { grossRevenue }) => sum + scaled(decimal(grossRevenue)), 0n),
    [servers],
  );
  return (
    <section class="card" aria-labelledby="servers-title">
      <div class="card-head">
        <div>
          <h3 id="servers-title">All time, by server</h3>
          <p class="quiet small">
            {servers.length} {servers.length === 1 ? "server" : "servers"}. Share is the part of
            gross revenue. Hours are estimated from gross revenue and the current price.
          </p>
        </div>
        <ExportBar
          file="revenue-all-time"
          csv={() => serversCsv(servers)}
          path="/api/provider/revenue"
          method="getOverview"
          parameters={{}}
        />
      </div>
      {servers.length === 0 ? (
        <p class="empty">No servers yet.</p>
      ) : (
        <Table label="All time, by server" columns={COLUMNS} sorting={sorting}>
          {sorting.rows.map((server) => (
            <ServerRow key={server.serverId} server={server} whole={whole} />
          ))}
        </Table>
      )}
    </section>
  );
}

function ServerRow({ server, whole }: { server: ServerRevenue; whole: bigint }) {
  const share = permille(scaled(decimal(server.grossRevenue)), whole);
  return (
    <tr>
      <th scope="row">
        <span class="name" title={server.serverName}>
          {server.serverName}
        </span>
      </th>
      <td class="numeric">
        {share === undefined ? (
          "–"
        ) : (
          <span class="share">
            <span class="share-bar" aria-hidden="true">
              <span style={{ width: `${Math.max(0, share) / 10}%` }} />
            </span>
            {(share / 10).toFixed(1)} %
          </span>
        )}
      </td>
      <td class="numeric">
        <Amount value={server.totalEarnings} currency />
      </td>
      <td class="numeric">
        <Amount value={server.platformFees} currency />
      </td>
      <td class="numeric">
        <Amount value={server.grossRevenue} currency />
      </td>
      <td class="numeric">
        <Amount value={server.totalHours} />
      </td>
      <td class="numeric">
        <Amount value={server.pricePerHour} currency />
      </td>
    </tr>
  );
}

/** The servers with the names and the digits of the JSON, in its order. */
function serversCsv(servers: readonly ServerRevenue[]): string {
  const header = [
    ...["serverId", "serverName", "pricePerHour", "totalEarnings"],
    ...["platformFees", "grossRevenue", "totalHours"],
  ];
  const rows = servers.map((server) => [
    text(server.serverId),
    text(server.serverName),
    ...[server.pricePerHour, server.totalEarnings, server.platformFees].map(amount),
    ...[server.grossRevenue, server.totalHours].map(amount),
  ]);
  return csvOf(header, rows);
}

const amount = (value: ServerRevenue["totalHours"]) => digits(decimal(value));
