/** GetServerBreakdown: the revenue and the rentals of a period, per server and instance. */
import { create } from "@bufbuild/protobuf";
import {
  type GetServerBreakdownRequest,
  type GetServerBreakdownResponse,
  GetServerBreakdownResponseSchema,
  type InstanceBreakdown,
  InstanceBreakdownSchema,
  type ServerBreakdown,
  ServerBreakdownSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../db/cents.ts";
import { toDatetime } from "../../db/datetime.ts";
import { createTotalsCache, isCurrent, type TotalsCache } from "../../rollup/read/cache.ts";
import { END } from "../../rollup/timeline.ts";
import type { Context } from "../context.ts";
import { money, timestamp } from "../message.ts";
import { byRank } from "../ranking.ts";
import type { Source } from "../source.ts";
import { type Period, parsePeriod } from "./period.ts";
import { fullBreakdown, uncoveredBreakdown } from "./queries.ts";
import { createTotalsByOwner, hadActivity, type Totals, type TotalsByOwner } from "./totals.ts";

/** The stored status that counts as active. */
const ACTIVE = "Active";
/** The status of a soft-deleted server, whatever is stored. */
const DELETED = "Deleted";

/** What is read whole or uncovered the rollup alike. */
type Rows = Awaited<ReturnType<typeof uncoveredBreakdown.run>>;

/**
 * What was recorded up to a rollup's watermark, in one period. A later period whose edges lie in the
 * same segments, between two checkpoints, differs from it by few rows.
 */
export interface BreakdownTotals {
  /** The period, as the database writes instants. */
  readonly start: string;
  readonly end: string;
  /** The checkpoints after them. */
  readonly afterStart: string;
  readonly afterEnd: string;
  readonly tallies: TotalsByOwner;
}

/** A cache of what rollups hold of breakdowns. */
export function createBreakdownCache(): TotalsCache<BreakdownTotals> {
  return createTotalsCache(({ tallies }) => tallies.size);
}

/**
 * Rows GetServerBreakdown. Rejects with a `ServiceError`: `invalidArgument` for a period that
 * cannot be, else as `Read` does.
 */
export async function getServerBreakdown(
  source: Source<BreakdownTotals>,
  request: GetServerBreakdownRequest,
  context: Context,
): Promise<GetServerBreakdownResponse> {
  const period = parsePeriod(request.startDate, request.endDate, context.now);
  const { rows, tallies } = await query(source, period, context);
  addUnrolled(tallies, rows);
  const total = tallies.total();
  const servers = serverBreakdowns(rows, tallies);
  return create(GetServerBreakdownResponseSchema, {
    startDate: timestamp(period.start),
    endDate: timestamp(period.end),
    totalServers: servers.length,
    activeServers: servers.filter((server) => server.status === ACTIVE).length,
    totalRevenue: money(total.gross),
    totalRentals: total.rentals,
    activeRentals: total.running,
    servers,
  });
}

/** Resolves to the rows, and tallies of what was recorded up to the rollup's watermark. */
async function query(
  { read, cache, reportLag }: Source<BreakdownTotals>,
  period: Period,
  { caller: { providerId: provider }, now, signal }: Context,
): Promise<{ rows: Rows; tallies: TotalsByOwner }> {
  const [start, end] = [toDatetime(period.start), toDatetime(period.end)];
  const values = { provider, start, end, now: toDatetime(now) };
  const fits = (part: BreakdownTotals) =>
    liesIn(start, part.start, part.afterStart) && liesIn(end, part.end, part.afterEnd);
  const known = cache.get(provider, fits);
  if (known) {
    const { state, part } = known;
    const remembered = { watermark: state.watermark, knownStart: part.start, knownEnd: part.end };
    const rows = await uncoveredBreakdown.run(read, { ...values, ...remembered }, signal);
    if (isCurrent(known, rows.state)) {
      reportLag(provider, state, now);
      const tallies = part.tallies.copy();
      addEdges(tallies, rows);
      return { rows, tallies };
    }
  }
  const rows = await fullBreakdown.run(read, values, signal);
  const tallies = createTotalsByOwner();
  for (const row of rows.untilEnd) tallies.add(row, 1, allOf(row));
  for (const row of rows.untilStart) tallies.add(row, -1, allOf(row));
  addEdges(tallies, rows);
  const [[state], [checkpoints]] = [rows.state, rows.checkpoints];
  if (state && checkpoints) {
    reportLag(provider, state, now);
    cache.set(provider, { state, part: { start, end, ...checkpoints, tallies } }, fits);
  }
  return { rows, tallies: tallies.copy() };
}

/** Whether an instant lies from one instant on and before a checkpoint; all of time ends with END. */
function liesIn(instant: string, from: string, checkpoint: string): boolean {
  return from <= instant && (instant < checkpoint || checkpoint === END);
}

/** Adds what lies between a checkpoint, or an earlier period's edge, and the edge of this one. */
function addEdges(tallies: TotalsByOwner, rows: Rows): void {
  for (const row of rows.upToEnd) tallies.add(row, 1, chargesOf(row));
  for (const row of rows.upToStart) tallies.add(row, -1, chargesOf(row));
  for (const row of rows.startsUpToEnd) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of rows.endsUpToStart) tallies.add(row, -1, { rentals: Number(row.count) });
}

/** Adds what no rollup holds. */
function addUnrolled(tallies: TotalsByOwner, rows: Rows): void {
  for (const row of rows.recentCharges) tallies.add(row, 1, chargesOf(row));
  for (const row of rows.recentRentals) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of rows.dueRentals) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of rows.openRentals) {
    tallies.add(row, 1, { rentals: Number(row.count), running: Number(row.running) });
  }
  for (const row of rows.endingRentals) tallies.add(row, 1, { running: Number(row.running) });
}

function chargesOf(row: { gross: string; charges: string }): Partial<Totals> {
  return { gross: parseCents(row.gross), charges: Number(row.charges) };
}

function allOf(row: { gross: string; charges: string; count: string }): Partial<Totals> {
  return { ...chargesOf(row), rentals: Number(row.count) };
}

function serverBreakdowns(rows: Rows, tallies: TotalsByOwner): ServerBreakdown[] {
  const instances = Map.groupBy(rows.instances, (instance) => instance.server);
  return rank(rows.servers, (server) => tallies.server(server.id)).map(({ row: server, tally }) =>
    create(ServerBreakdownSchema, {
      serverId: server.uuid,
      serverName: server.name,
      serverType: server.type,
      status: server.deleted === "0" ? server.status : DELETED,
      totalRevenue: money(tally.gross),
      totalRentals: tally.rentals,
      activeRentals: tally.running,
      instances: instanceBreakdowns(instances.get(server.id) ?? [], tallies),
    }),
  );
}

function instanceBreakdowns(
  instances: Rows["instances"],
  tallies: TotalsByOwner,
): InstanceBreakdown[] {
  return rank(instances, (instance) => tallies.instance(instance.server, instance.id)).map(
    ({ row: instance, tally }) =>
      create(InstanceBreakdownSchema, {
        instanceId: instance.publicId,
        instanceName: instance.name,
        totalRevenue: money(tally.gross),
        totalRentals: tally.rentals,
        activeRentals: tally.running,
      }),
  );
}

/** The rows that are shown, in their order, each with its tally. */
function rank<Row extends { readonly id: string; readonly name: string; readonly deleted: string }>(
  rows: readonly Row[],
  tallyOf: (row: Row) => Totals,
) {
  return rows
    .map((row) => {
      const tally = tallyOf(row);
      return { row, tally, gross: tally.gross, name: row.name, id: row.id };
    })
    .filter(({ row, tally }) => row.deleted === "0" || hadActivity(tally))
    .sort(byRank);
}
