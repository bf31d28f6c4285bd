/** The servers of a period, each with its instances folded in. */
import { useState } from "preact/hooks";
import type { InstanceBreakdown, ServerBreakdown } from "../../../clients/typescript/src/index.ts";
import { earningsPerHour } from "../amount/earnings-per-hour.ts";
import { StatusBadge } from "../status-badge.tsx";
import { type Column, counts, decimals } from "../table/columns.tsx";
import { DataTable, Row } from "../table/data-table.tsx";

type Item = ServerBreakdown | InstanceBreakdown;

const COLUMNS: readonly Column<Item>[] = [
  { title: "Server", value: (row) => ("serverName" in row ? row.serverName : row.instanceName) },
  {
    title: "Status",
    value: (row) => ("status" in row ? row.status : ""),
    cell: (row) => "status" in row && <StatusBadge status={row.status} />,
  },
  decimals("Revenue", ({ totalRevenue }) => totalRevenue),
  decimals("Refunds", ({ refunds }) => refunds, { detail: true }),
  decimals("Rented hours", ({ rentedHours }) => rentedHours, { currency: false, detail: true }),
  decimals("Earnings/hour", earningsPerHour, { detail: true, optional: true }),
  counts("Rentals", ({ totalRentals }) => totalRentals),
  counts("Running now", ({ activeRentals }) => activeRentals),
];

const namesOf = ({ serverName, instances }: ServerBreakdown) => [
  serverName,
  ...instances.map(({ instanceName }) => instanceName),
];

/** Shows the servers. */
export function ServerList({ servers }: { readonly servers: readonly ServerBreakdown[] }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const allOpen = servers.every(({ serverId }) => open.has(serverId));
  const toggle = (id: string) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const toggleAll = () =>
    setOpen(allOpen ? new Set() : new Set(servers.map(({ serverId }) => serverId)));
  return (
    <DataTable
      label="Servers in the period"
      empty="No servers in this period."
      columns={COLUMNS}
      main="Revenue"
      rows={servers}
      keyOf={({ serverId }) => serverId}
      namesOf={namesOf}
      heading={(server) => (
        <button
          type="button"
          class="fold"
          aria-expanded={open.has(server.serverId)}
          disabled={server.instances.length === 0}
          onClick={() => toggle(server.serverId)}
        >
          <span class="fold-mark" aria-hidden="true" />
          <span>
            <span class="name" title={server.serverName}>
              {server.serverName.trim() || server.serverId}
            </span>
            <span class="quiet small type">{server.serverType}</span>
          </span>
          <span class="hidden">
            , {server.instances.length} {server.instances.length === 1 ? "instance" : "instances"}
          </span>
        </button>
      )}
      below={({ serverId, instances }) =>
        open.has(serverId) &&
        instances.map((instance) => (
          <Row
            class="instance"
            key={instance.instanceId}
            columns={COLUMNS}
            main="Revenue"
            of={instance}
          >
            <span class="name" title={instance.instanceName}>
              {instance.instanceName} <code class="quiet small">{instance.instanceId}</code>
            </span>
          </Row>
        ))
      }
    >
      <button type="button" onClick={toggleAll}>
        {allOpen ? "Collapse all" : "Expand all"}
      </button>
    </DataTable>
  );
}
