/** The servers of a period, each with its instances folded in, and which of them are shown. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { InstanceBreakdown, ServerBreakdown } from "../../../clients/typescript/src/index.ts";
import { chargesOf } from "../address.ts";
import { perHour } from "../amount/sums.ts";
import { Name } from "../name.tsx";
import type { Period } from "../period/period.ts";
import { Status } from "../status.tsx";
import { type Column, ifAny, numbers, texts } from "../table/columns.tsx";
import { DataTable } from "../table/data-table.tsx";
import { visibleName } from "../visible-name.ts";
import { EVERY, type Filter, filterServers } from "./filter.ts";

type Item = ServerBreakdown | InstanceBreakdown;

interface ServerListProps {
  /** The servers; undefined while they are loaded. */
  readonly servers: readonly ServerBreakdown[] | undefined;
  readonly period: Period;
  /** Further controls. */
  readonly children: ComponentChildren;
}

/** Shows the servers. */
export function ServerList({ servers, period, children }: ServerListProps) {
  const [filter, setFilter] = useState<Filter>(EVERY);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const found: readonly Item[] | undefined = useMemo(
    () => servers && filterServers(servers, filter),
    [servers, filter],
  );
  // Links to charges are made of the present address.
  const columns = useMemo(() => {
    const toggle = (id: string) =>
      setOpen(open.has(id) ? open.difference(new Set([id])) : new Set([...open, id]));
    return columnsOf(servers, period, open, toggle);
  }, [servers, open, location.search]);
  return (
    <>
      {servers && servers.length > 0 && (
        <div class="buttons">
          <Filters servers={servers} filter={filter} set={setFilter} />
          <span class="quiet small" role="status">
            {found !== servers && `${found?.length} of `}
            {servers.length} {servers.length === 1 ? "server" : "servers"}
          </span>
          {children}
        </div>
      )}
      <DataTable
        label="Servers in the period"
        empty={servers?.length ? "No server is like this." : "No servers in this period."}
        columns={columns}
        order="Earnings"
        rows={found}
        below={(row) => ("serverId" in row && open.has(row.serverId) ? row.instances : [])}
      />
    </>
  );
}

interface ServerProps extends ServerBreakdown {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function Server({ serverId, serverName, serverType, instances, isOpen, toggle }: ServerProps) {
  return (
    <button
      type="button"
      class="fold"
      aria-expanded={isOpen}
      disabled={instances.length === 0}
      onClick={toggle}
    >
      <span aria-hidden="true">{instances.length === 0 ? "" : isOpen ? "▾" : "▸"}</span>
      <span>
        <Name name={serverName} id={serverId} />
        <span class="quiet small type">{serverType}</span>
      </span>
    </button>
  );
}

interface FiltersProps {
  readonly servers: readonly ServerBreakdown[];
  readonly filter: Filter;
  readonly set: (filter: Filter) => void;
}

function Filters({ servers, filter, set }: FiltersProps) {
  const statuses = [...new Set(servers.map(({ status }) => status))].sort();
  return (
    <>
      <input
        type="search"
        aria-label="Find by name"
        placeholder="Find by name"
        value={filter.word}
        onInput={({ currentTarget }) => set({ ...filter, word: currentTarget.value })}
      />
      <select
        aria-label="Status"
        value={filter.status}
        onChange={({ currentTarget }) => set({ ...filter, status: currentTarget.value })}
      >
        <option value="">Any status</option>
        {statuses.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <label>
        <input
          type="checkbox"
          checked={filter.idle}
          onChange={({ currentTarget }) => set({ ...filter, idle: currentTarget.checked })}
        />
        Earned nothing
      </label>
    </>
  );
}

function columnsOf(
  servers: readonly ServerBreakdown[] | undefined,
  period: Period,
  open: ReadonlySet<string>,
  toggle: (serverId: string) => void,
): readonly Column<Item>[] {
  const href = (row: Item) => ("serverId" in row ? chargesOf(period, row.serverId) : undefined);
  const rank = "detail";
  return [
    texts(
      "Server",
      (row) => ("serverId" in row ? visibleName(row.serverName, row.serverId) : ""),
      (row) =>
        "serverId" in row ? (
          <Server {...row} isOpen={open.has(row.serverId)} toggle={() => toggle(row.serverId)} />
        ) : (
          <Name name={row.instanceName} id={row.instanceId} />
        ),
    ),
    texts(
      "Status",
      (row) => ("status" in row ? row.status : ""),
      (row) => "status" in row && <Status status={row.status} />,
    ),
    numbers("Earnings", ({ earnings }) => earnings, { rank: "main", href }),
    numbers("Gross", ({ totalRevenue }) => totalRevenue),
    ...ifAny<Item>(
      servers,
      numbers("Refunds", ({ refunds }) => refunds, { rank }),
    ),
    numbers("Rented hours", ({ rentedHours }) => rentedHours, { rank, plain: true }),
    numbers("Earnings/hour", (row) => perHour(row.earnings, row.rentedHours), { rank }),
    numbers("Rentals", ({ totalRentals }) => totalRentals, { rank }),
    numbers("Running now", ({ activeRentals }) => activeRentals),
  ];
}
