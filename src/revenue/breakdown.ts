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
import type { Read } from "../database/read.ts";
import { breakdownQuestions } from "./breakdown-questions.ts";
import type { Context } from "./context.ts";
import { money, timestamp } from "./message.ts";
import { byRank } from "./order.ts";
import { parsePeriod } from "./period.ts";
import { createTallies, hadActivity, type Tallies, type Tally } from "./tally.ts";

/** The stored status that counts as active. */
const ACTIVE = "Active";
/** The status of a soft-deleted server, whatever is stored. */
const DELETED = "Deleted";

type Answers = Awaited<ReturnType<typeof breakdownQuestions.ask>>;

/**
 * Answers GetServerBreakdown. Rejects with a `Failure`: `invalidArgument` for a period that
 * cannot be, else as `Read` does.
 */
export async function getServerBreakdown(
  read: Read,
  request: GetServerBreakdownRequest,
  { caller, now, limits }: Context,
): Promise<GetServerBreakdownResponse> {
  const period = parsePeriod(request.startDate, request.endDate, now);
  const answers = await breakdownQuestions.ask(
    read,
    {
      provider: caller.providerId,
      start: toDatetime(period.start),
      end: toDatetime(period.end),
      now: toDatetime(now),
    },
    limits,
  );
  const tallies = tally(answers);
  const servers = serverBreakdowns(answers, tallies);
  return create(GetServerBreakdownResponseSchema, {
    startDate: timestamp(period.start),
    endDate: timestamp(period.end),
    totalServers: servers.length,
    activeServers: servers.filter((server) => server.status === ACTIVE).length,
    totalRevenue: money(tallies.total.gross),
    totalRentals: tallies.total.rentals,
    activeRentals: tallies.total.running,
    servers,
  });
}

function tally(answers: Answers): Tallies {
  const tallies = createTallies();
  for (const row of answers.untilEnd) tallies.add(row, 1, allOf(row));
  for (const row of answers.untilStart) tallies.add(row, -1, allOf(row));
  for (const row of answers.upToEnd) tallies.add(row, 1, chargesOf(row));
  for (const row of answers.upToStart) tallies.add(row, -1, chargesOf(row));
  for (const row of answers.recentCharges) tallies.add(row, 1, chargesOf(row));
  for (const row of answers.startsUpToEnd) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of answers.endsUpToStart) tallies.add(row, -1, { rentals: Number(row.count) });
  for (const row of answers.recentRentals) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of answers.openRentals) tallies.add(row, 1, { rentals: Number(row.count) });
  for (const row of answers.runningRentals) tallies.add(row, 1, { running: Number(row.count) });
  return tallies;
}

function chargesOf(row: { gross: string; charges: string }): Partial<Tally> {
  return { gross: parseCents(row.gross), charges: Number(row.charges) };
}

function allOf(row: { gross: string; charges: string; count: string }): Partial<Tally> {
  return { ...chargesOf(row), rentals: Number(row.count) };
}

function serverBreakdowns(answers: Answers, tallies: Tallies): ServerBreakdown[] {
  const instances = Map.groupBy(answers.instances, (instance) => instance.server);
  return answers.servers
    .map((server) => ({ ...server, ...tallies.server(server.id) }))
    .filter((server) => server.deleted === "0" || hadActivity(server))
    .sort(byRank)
    .map((server) =>
      create(ServerBreakdownSchema, {
        serverId: server.uuid,
        serverName: server.name,
        serverType: server.type,
        status: server.deleted === "0" ? server.status : DELETED,
        totalRevenue: money(server.gross),
        totalRentals: server.rentals,
        activeRentals: server.running,
        instances: instanceBreakdowns(instances.get(server.id) ?? [], tallies),
      }),
    );
}

function instanceBreakdowns(
  instances: Answers["instances"],
  tallies: Tallies,
): InstanceBreakdown[] {
  return instances
    .map((instance) => ({ ...instance, ...tallies.instance(instance.server, instance.id) }))
    .filter((instance) => instance.deleted === "0" || hadActivity(instance))
    .sort(byRank)
    .map((instance) =>
      create(InstanceBreakdownSchema, {
        instanceId: instance.publicId,
        instanceName: instance.name,
        totalRevenue: money(instance.gross),
        totalRentals: instance.rentals,
        activeRentals: instance.running,
      }),
    );
}
