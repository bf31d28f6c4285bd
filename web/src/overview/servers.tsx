/** Lifetime revenue of each server. */
import { useMemo } from "preact/hooks";
import {
  decimal,
  type GetOverviewResponse,
  type ServerRevenue,
} from "../../../clients/typescript/src/index.ts";
import { scaled, share } from "../amount/decimal-text.ts";
import { type Column, decimals } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";

const columnsOf = (whole: bigint): readonly Column<ServerRevenue>[] => [
  { title: "Server", value: ({ serverName }) => serverName },
  {
    title: "Share",
    numeric: true,
    value: ({ grossRevenue }) => scaled(decimal(grossRevenue)),
    cell: ({ grossRevenue }) => <Share part={scaled(decimal(grossRevenue))} whole={whole} />,
  },
  decimals("Earnings", ({ totalEarnings }) => totalEarnings),
  decimals("Fees", ({ platformFees }) => platformFees, { detail: true }),
  decimals("Gross", ({ grossRevenue }) => grossRevenue),
  decimals("Hours", ({ totalHours }) => totalHours, { currency: false, detail: true }),
  decimals("Price/hour", ({ pricePerHour }) => pricePerHour, { detail: true }),
];

const namesOf = ({ serverName }: ServerRevenue) => [serverName];

/** Shows the servers. */
export function Servers({ overview }: { overview: GetOverviewResponse }) {
  const { serverRevenue: servers } = overview;
  const columns = useMemo(
    () =>
      columnsOf(servers.reduce((sum, { grossRevenue }) => sum + scaled(decimal(grossRevenue)), 0n)),
    [servers],
  );
  return (
    <section class="card" id="servers" aria-labelledby="servers-title">
      <div class="card-head">
        <h3 id="servers-title">All time, by server</h3>
        <p class="quiet small">
          Share is the part of gross revenue; hours are estimated from it and the current price.
        </p>
      </div>
      <DataTable
        label="All time, by server"
        empty="No servers yet."
        columns={columns}
        main="Gross"
        rows={servers}
        keyOf={({ serverId }) => serverId}
        namesOf={namesOf}
        heading={({ serverName }) => (
          <span class="name" title={serverName}>
            {serverName}
          </span>
        )}
      />
    </section>
  );
}

function Share({ part, whole }: { part: bigint; whole: bigint }) {
  const { permille, text } = share(part, whole);
  return (
    <span class="share" style={{ backgroundSize: `${Math.max(0, permille) / 10}%` }}>
      {text}
    </span>
  );
}
