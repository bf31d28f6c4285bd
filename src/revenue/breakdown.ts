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
} from "../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../database/cents.ts";
import { toDatetime } from "../database/datetime.ts";
import { END } from "../database/rollup/timeline.ts";
import { breakdownBesideRollup, wholeBreakdown } from "./breakdown-questions.ts";
import type { Context } from "./context.ts";
import { money, timestamp } from "./message.ts";
import { byRank } from "./order.ts";
import { type Period, parsePeriod } from "./period.ts";
import { createRollupMemory, type RollupMemory, stillStands } from "./rollup-memory.ts";
import type { Source } from "./source.ts";
import { createTallies, hadActivity, type Tallies, type Tally } from "./tally.ts";

/** The stored status that counts as active. */
const ACTIVE = "Active";
/** The status of a soft-deleted server, whatever is stored. */
const DELETED = "Deleted";

/** What is read whole or beside the rollup alike. */
type Answers = Awaited<ReturnType<typeof breakdownBesideRollup.ask>>;

/**
 * What was recorded up to a rollup's cut, in one period. A later period whose edges lie in the
 * same segments, between two checkpoints, differs from it by few rows.
 */
export interface BreakdownPart {
  /** The period, as the database writes instants. */
  readonly start: string;
  readonly end: string;
  /** The checkpoints after them. */
  readonly afterStart: string;
  readonly afterEnd: string;
  readonly tallies: Tallies;
}

/** A memory of what rollups hold of breakdowns. */
export function createBreakdownMemory(): RollupMemory<BreakdownPart> {
  return createRollupMemory(({ tallies }) => tallies.size);
}

/**
 * Answers GetServerBreakdown. Rejects with a `Failure`: `invalidArgument` for a period that
 * cannot be, else as `Read` does.
 */
export async function getServerBreakdown(
  source: Source<BreakdownPart>,
  request: GetServerBreakdownRequest,
  context: Context,
): Promise<GetServerBreakdownResponse> {
  const period = parsePeriod(request.startDate, request.endDate, context.now);
  const { answers, tallies } = await ask(source, period, context);
  addUnrolled(tallies, answers);
  const total = tallies.total();
  const servers = serverBreakdowns(answers, tallies);
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

/** Resolves to the answers, and tallies of what was recorded up to the rollup's cut. */
async function ask(
  { read, memory, noteLag }: Source<BreakdownPart>,
  period: Period,
  { caller: { providerId: provider }, now, limits }: Context,
): Promise<{ answers: Answers; tallies: Tallies }> {
  const [start, end] = [toDatetime(period.start), toDatetime(period.end)];
  const values = { provider, start, end, now: toDatetime(now) };
  const fits = (part: BreakdownPart) =>
    liesIn(start, part.start, part.afterStart) && liesIn(end, part.end, part.afterEnd);
  const known = memory.recall(provider, fits);
  if (known) {
    const { state, part } = known;
    const remembered = { cut: state.cut, knownStart: part.start, knownEnd: part.end };
    const answers = await breakdownBesideRollup.ask(read, { ...values, ...remembered }, limits);
    if (stillStands(known, answers.state)) {
      noteLag(provider, state, now);
      const tallies = part.tallies.copy();
      addEdges(tallies, answers);
      return { answers, tallies };
    }
  }
  const answers = await wholeBreakdown.ask(read, values, limits);
  const tallies = createTallies();
  for (const row of answers.untilEnd) tallies.add(row, 1, allOf(row));
  for (const row of answers.untilStart) tallies.add(row, -1, allOf(row));
  addEdges(tallies, answers);
  const [[state], [checkpoints]] = [answers.state, answers.checkpoints];
  if (state && checkpoints) {
    noteLag(provider, state, now);
    memory.remember(provider, { state, part: { start, end, ...checkpoints, tallies } }, fits);
  }
  return { answers, tallies: tallies.copy() };
}

/** Whether an instant lies from one instant on and before a checkpoint; all of time ends with END. */
function liesIn(instant: string, from: string, checkpoint: string): boolean {
  return from <= instant && (instant < checkpoint || checkpoint === END);
}

/** Adds what lies between a checkpoint, or an earlier period's edge, and the edge of this one. */
function addEdges(tallies: Tallies, answers: Answers): void {
  for (const row of answers.upToEnd) tallies.add(row, 1, chargesOf(row));
  for (const row of answers.upToStart) tallies.add(row, -1, chargesOf(row));
  for (const row of answers.startsUpToEnd) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of answers.endsUpToStart) tallies.add(row, -1, { rentals: Number(row.count) });
}

/** Adds what no rollup holds. */
function addUnrolled(tallies: Tallies, answers: Answers): void {
  for (const row of answers.recentCharges) tallies.add(row, 1, chargesOf(row));
  for (const row of answers.recentRentals) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of answers.dueRentals) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of answers.openRentals) {
    tallies.add(row, 1, { rentals: Number(row.count), running: Number(row.running) });
  }
  for (const row of answers.endingRentals) tallies.add(row, 1, { running: Number(row.running) });
}

function chargesOf(row: { gross: string; charges: string }): Partial<Tally> {
  return { gross: parseCents(row.gross), charges: Number(row.charges) };
}

function allOf(row: { gross: string; charges: string; count: string }): Partial<Tally> {
  return { ...chargesOf(row), rentals: Number(row.count) };
}

function serverBreakdowns(answers: Answers, tallies: Tallies): ServerBreakdown[] {
  const instances = Map.groupBy(answers.instances, (instance) => instance.server);
  return rank(answers.servers, (server) => tallies.server(server.id)).map(
    ({ row: server, tally }) =>
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
  instances: Answers["instances"],
  tallies: Tallies,
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
  tallyOf: (row: Row) => Tally,
) {
  return rows
    .map((row) => {
      const tally = tallyOf(row);
      return { row, tally, gross: tally.gross, name: row.name, id: row.id };
    })
    .filter(({ row, tally }) => row.deleted === "0" || hadActivity(tally))
    .sort(byRank);
}
