/** Lifetime revenue of each server. */
import { useMemo } from "preact/hooks";
import {
  decimal,
  type GetOverviewResponse,
  RevenueService,
  type ServerRevenue,
} from "../../../clients/typescript/src/index.ts";
import { permille, scaled } from "../amount/decimal-text.ts";
import { ExportBar } from "../export/export-bar.tsx";
import { type Column, decimals } from "../table/columns.tsx";
import { useSorting } from "../table/sorting.ts";
import { Row, Table } from "../table/table.tsx";

const columnsOf = (whole: bigint): readonly Column<ServerRevenue>[] => [
  { title: "Server", value: ({ serverName }) => serverName },
  {
    title: "Share",
    numeric: true,
    value: ({ grossRevenue }) => scaled(decimal(grossRevenue)),
    cell: ({ grossRevenue }) => <Share part={scaled(decimal(grossRevenue))} whole={whole} />,
  },
  decimals("Earnings", ({ totalEarnings }) => totalEarnings),
  decimals("Fees", ({ platformFees }) => platformFees),
  decimals("Gross", ({ grossRevenue }) => grossRevenue),
  decimals("Hours", ({ totalHours }) => totalHours, { currency: false }),
  decimals("Price/hour", ({ pricePerHour }) => pricePerHour),
];

/** Shows the servers. */
export function Servers({ overview }: { overview: GetOverviewResponse }) {
  const { serverRevenue: servers } = overview;
  const columns = useMemo(
    () =>
      columnsOf(servers.reduce((sum, { grossRevenue }) => sum + scaled(decimal(grossRevenue)), 0n)),
    [servers],
  );
  // The service sorts by gross revenue.
  const sorting = useSorting(servers, columns, "Gross");
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
          method={RevenueService.method.getOverview}
          response={overview}
          parameters={{}}
        />
      </div>
      {servers.length === 0 ? (
        <p class="empty">No servers yet.</p>
      ) : (
        <Table label="All time, by server" columns={columns} sorting={sorting}>
          {sorting.rows.map((server) => (
            <Row key={server.serverId} columns={columns} of={server}>
              <span class="name" title={server.serverName}>
                {server.serverName}
              </span>
            </Row>
          ))}
        </Table>
      )}
    </section>
  );
}

function Share({ part, whole }: { part: bigint; whole: bigint }) {
  const share = permille(part, whole);
  if (share === undefined) return "–";
  return (
    <span class="share">
      <span class="share-bar" aria-hidden="true">
        <span style={{ width: `${Math.max(0, share) / 10}%` }} />
      </span>
      {(share / 10).toFixed(1)} %
    </span>
  );
}
