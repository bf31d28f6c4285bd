/** The servers of a period, each with its instances folded in. */
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useCallback, useMemo, useState } from "preact/hooks";
import type { InstanceBreakdown, ServerBreakdown } from "../../../clients/typescript/src/index.ts";
import { StatusBadge } from "../status-badge.tsx";
import { type Column, counts, decimals } from "../table/columns.tsx";
import { useSorting } from "../table/sorting.ts";
import { Row, Table } from "../table/table.tsx";

type Item = ServerBreakdown | InstanceBreakdown;

const COLUMNS: readonly Column<Item>[] = [
  { title: "Server", value: (row) => ("serverName" in row ? row.serverName : row.instanceName) },
  {
    title: "Status",
    value: (row) => ("status" in row ? row.status : ""),
    cell: (row) => "status" in row && <StatusBadge status={row.status} />,
  },
  decimals("Revenue", ({ totalRevenue }) => totalRevenue),
  counts("Rentals", ({ totalRentals }) => totalRentals),
  counts("Running now", ({ activeRentals }) => activeRentals),
];

interface ServerListProps {
  readonly servers: readonly ServerBreakdown[];
  /** Further controls. */
  readonly children: ComponentChildren;
}

/** Shows the servers, filtered by a word. */
export function ServerList({ servers, children }: ServerListProps) {
  const [word, setWord] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => {
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const found = useMemo(() => filter(servers, word), [servers, word]);
  // The service sorts by revenue.
  const sorting = useSorting(found, COLUMNS, "Revenue");
  const instances = servers.reduce((sum, server) => sum + server.instances.length, 0);
  const allOpen = found.length > 0 && found.every(({ serverId }) => open.has(serverId));
  const all = () => setOpen(allOpen ? new Set() : new Set(found.map(({ serverId }) => serverId)));
  return (
    <>
      <div class="card-head">
        <div class="buttons">
          <label class="hidden" for="filter">
            Filter by name
          </label>
          <input
            id="filter"
            type="search"
            placeholder="Filter by name"
            value={word}
            onInput={(event) => setWord(event.currentTarget.value)}
          />
          <button type="button" onClick={all} disabled={found.length === 0}>
            {allOpen ? "Collapse all" : "Expand all"}
          </button>
          <span class="quiet small" role="status">
            {found.length} of {servers.length} servers, {instances} instances
          </span>
        </div>
        {children}
      </div>
      {found.length === 0 ? (
        <p class="empty">
          {servers.length === 0 ? "No servers in this period." : "No server has this name."}
        </p>
      ) : (
        <Table label="Servers in the period" columns={COLUMNS} sorting={sorting}>
          {sorting.rows.map((server) => (
            <ServerRows
              key={server.serverId}
              server={server}
              open={open.has(server.serverId)}
              toggle={toggle}
            />
          ))}
        </Table>
      )}
    </>
  );
}

function filter(servers: readonly ServerBreakdown[], word: string): readonly ServerBreakdown[] {
  const wanted = word.trim().toLowerCase();
  const has = (name: string) => name.toLowerCase().includes(wanted);
  return servers.filter(
    ({ serverName, instances }) =>
      has(serverName) || instances.some(({ instanceName }) => has(instanceName)),
  );
}

interface ServerRowsProps {
  readonly server: ServerBreakdown;
  readonly open: boolean;
  readonly toggle: (id: string) => void;
}

// Memoized: one of 200 servers unfolds without drawing the others again.
const ServerRows = memo(({ server, open, toggle }: ServerRowsProps) => (
  <>
    <Row class="server" columns={COLUMNS} of={server}>
      <button
        type="button"
        class="fold"
        aria-expanded={open}
        disabled={server.instances.length === 0}
        onClick={() => toggle(server.serverId)}
      >
        <span class="fold-mark" aria-hidden="true" />
        <span>
          <span class="name" title={server.serverName}>
            {server.serverName}
          </span>
          <span class="quiet small type">{server.serverType}</span>
        </span>
        <span class="hidden">, {server.instances.length} instances</span>
      </button>
    </Row>
    {open &&
      server.instances.map((instance) => (
        <Row class="instance" key={instance.instanceId} columns={COLUMNS} of={instance}>
          <span class="name" title={instance.instanceName}>
            {instance.instanceName} <code class="quiet small">{instance.instanceId}</code>
          </span>
        </Row>
      ))}
  </>
));
