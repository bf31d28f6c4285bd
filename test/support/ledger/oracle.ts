/**
 * What the answers about a ledger have to be: its rows filtered and added up, as the comments of the proto files
 * define. Nothing here is the service's. Instants are ISO 8601; an answer is protobuf's JSON.
 */
import {
  hourlyPrice,
  hours,
  hundredthsOfHours,
  sum,
  tenPercent,
  timestamp,
  usd,
} from "./amounts.ts";
import type { Charge, Instance, Ledger, Rental, Server } from "./ledger.ts";

/** Both ends inclusive. */
export interface ExpectedPeriod {
  readonly start: string;
  readonly end: string;
}

const grossOf = (charges: readonly Charge[]) => sum(charges.map(({ gross }) => gross));

/** What every sum of charges is told as. */
function money(charges: readonly Charge[]) {
  const gross = grossOf(charges);
  const fee = tenPercent(gross);
  return {
    gross: usd(gross),
    fee: usd(fee),
    earnings: usd(gross - fee),
    refunds: usd(grossOf(charges.filter((charge) => charge.gross < 0n))),
  };
}

/** Whether an instant lies in a period. Nothing that is dated after now does. */
const isIn =
  ({ start, end }: ExpectedPeriod, now: string) =>
  (at: string) =>
    start <= at && at <= end && at <= now;

/** Those that are not deleted or have activity: the largest gross first, then by the name's UTF-8 bytes, then by id. */
function ranked<Item extends Pick<Server, "id" | "name" | "deletedAt">>(
  items: readonly Item[],
  activityOf: (item: Item) => { readonly charges: readonly Charge[]; readonly isActive: boolean },
): Item[] {
  const sign = (difference: bigint) => (difference < 0n ? -1 : difference > 0n ? 1 : 0);
  return items
    .map((item) => ({ item, ...activityOf(item) }))
    .filter(({ item, isActive }) => item.deletedAt === null || isActive)
    .toSorted(
      (a, b) =>
        sign(grossOf(b.charges) - grossOf(a.charges)) ||
        Buffer.compare(Buffer.from(a.item.name), Buffer.from(b.item.name)) ||
        sign(a.item.id - b.item.id),
    )
    .map(({ item }) => item);
}

const MONTH = new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" });
const ABBREVIATION = new Intl.DateTimeFormat("en-US", { month: "short", timeZone: "UTC" });

export function expectedOverview(ledger: Ledger, now: string) {
  const past = ledger.charges.filter(({ at }) => at <= now);
  /** Of a year or a month: of what begins so. */
  const ofTime = (text: string) => money(past.filter(({ at }) => at.startsWith(text)));
  const ofServer = (server: Server) => past.filter((charge) => charge.server === server.id);
  const year = ofTime(now.slice(0, 4));
  const current = Temporal.PlainYearMonth.from(now.slice(0, 7));
  const months = Array.from({ length: 12 }, (_, ago) => `${current.subtract({ months: ago })}`);
  return {
    summary: {
      totalEarningsYTD: year.earnings,
      platformFeesYTD: year.fee,
      grossRevenueYTD: year.gross,
      currentMonthEarnings: ofTime(now.slice(0, 7)).earnings,
      availableBalance: usd(ledger.balance ?? 0n),
    },
    monthlyEarnings: months.map((month) => ({
      month: `${MONTH.format(Date.parse(month))} ${Number(month.slice(0, 4))}`,
      monthAbbreviation: ABBREVIATION.format(Date.parse(month)),
      amount: ofTime(month).earnings,
      startTime: `${month}-01T00:00:00Z`,
    })),
    serverRevenue: ranked(ledger.servers, (server) => ({
      charges: ofServer(server),
      isActive: ofServer(server).length > 0,
    })).map((server) => {
      const { gross, fee, earnings } = money(ofServer(server));
      return {
        serverId: server.uuid,
        serverName: server.name,
        pricePerHour: hourlyPrice(server.price),
        totalEarnings: earnings,
        platformFees: fee,
        grossRevenue: gross,
        totalHours: hours(grossOf(ofServer(server)), server.price),
      };
    }),
    recentPayouts: expectedPayouts(ledger).slice(0, 10),
    providerName: ledger.name,
  };
}

/** All payouts, the newest first. */
export function expectedPayouts({ payouts }: Ledger) {
  return payouts
    .toSorted((a, b) =>
      a.paidAt === b.paidAt ? (a.id > b.id ? -1 : 1) : a.paidAt > b.paidAt ? -1 : 1,
    )
    .map(({ publicId, paidAt, amount, method, status }) => {
      return { payoutId: publicId, date: timestamp(paidAt), amount: usd(amount), method, status };
    });
}

/** What belongs to an owner. */
type Belongs = (row: Pick<Charge, "server" | "instance">) => boolean;

export function expectedBreakdown(
  ledger: Ledger,
  period: ExpectedPeriod,
  now: string,
  timeZone = "UTC",
) {
  const last = period.end < now ? period.end : now;
  const touches = ({ startedAt, endedAt }: Rental) =>
    startedAt <= last && (endedAt === null || endedAt >= period.start);
  const runs = ({ startedAt, endedAt }: Rental) =>
    startedAt <= now && (endedAt === null || endedAt > now);
  const activityOf = (belongs: Belongs) => {
    const charges = ledger.charges.filter((row) => belongs(row) && isIn(period, now)(row.at));
    const rentals = ledger.rentals.filter((row) => belongs(row) && touches(row));
    return { charges, rentals, isActive: charges.length + rentals.length > 0 };
  };
  const figures = (belongs: Belongs) => {
    const { charges, rentals } = activityOf(belongs);
    const { gross, fee, earnings, refunds } = money(charges);
    return {
      totalRevenue: gross,
      totalRentals: rentals.length,
      activeRentals: ledger.rentals.filter((row) => belongs(row) && runs(row)).length,
      refunds,
      rentedHours: usd(hundredthsOfHours(rentedIn(rentals, period, now))),
      platformFees: fee,
      earnings,
    };
  };
  const ofServer =
    ({ id }: Server): Belongs =>
    (row) =>
      row.server === id;
  const ofInstance =
    ({ id, server }: Instance): Belongs =>
    (row) =>
      row.server === server && row.instance === id;
  const servers = ranked(ledger.servers, (server) => activityOf(ofServer(server)));
  return {
    startDate: timestamp(period.start),
    endDate: timestamp(period.end),
    totalServers: servers.length,
    activeServers: ledger.servers.filter(
      ({ deletedAt, status }) => deletedAt === null && status === "Active",
    ).length,
    ...figures(() => true),
    servers: servers.map((server) => ({
      serverId: server.uuid,
      serverName: server.name,
      serverType: server.type,
      status: server.deletedAt === null ? server.status : "Deleted",
      ...figures(ofServer(server)),
      instances: ranked(
        ledger.instances.filter((instance) => instance.server === server.id),
        (instance) => activityOf(ofInstance(instance)),
      ).map((instance) => ({
        instanceId: instance.publicId,
        instanceName: instance.name,
        ...figures(ofInstance(instance)),
      })),
    })),
    timeZone,
  };
}

/** How long rentals ran in a period up to now, each by itself, in ms. */
function rentedIn(rentals: readonly Rental[], { start, end }: ExpectedPeriod, now: string): bigint {
  const [from, until] = [Date.parse(start), Math.min(Date.parse(end) + 1, Date.parse(now))];
  return sum(
    rentals.map(({ startedAt, endedAt }) => {
      const ended = endedAt === null ? until : Math.min(Date.parse(endedAt), until);
      return BigInt(Math.max(0, ended - Math.max(Date.parse(startedAt), from)));
    }),
  );
}

/** The row of a provider among all, without its name and the instant of its snapshot. */
export function expectedRow(ledger: Ledger, period: ExpectedPeriod, now: string) {
  const within = isIn(period, now);
  const { totalRevenue: grossRevenue, ...figures } = expectedBreakdown(ledger, period, now);
  const { refunds, platformFees, earnings, rentedHours } = figures;
  const paid = (isCompleted: boolean) =>
    ledger.payouts.filter(
      ({ paidAt, status }) => within(paidAt) && (status === "Completed") === isCompleted,
    );
  return {
    providerId: String(ledger.provider),
    ...{ grossRevenue, refunds, platformFees, earnings, rentedHours },
    charges: ledger.charges.filter(({ at }) => within(at)).length,
    completedPayouts: usd(sum(paid(true).map(({ amount }) => amount))),
    otherPayouts: usd(sum(paid(false).map(({ amount }) => amount))),
    availableBalance: usd(ledger.balance ?? 0n),
  };
}

/** The charges of a period, the newest first, of one instant the one that was written last. Without what a ledger lacks. */
export function expectedCharges(ledger: Ledger, period: ExpectedPeriod, now: string) {
  return ledger.charges
    .filter(({ at }) => isIn(period, now)(at))
    .toReversed()
    .toSorted((a, b) => (a.at === b.at ? 0 : a.at > b.at ? -1 : 1))
    .map(({ at, gross, ...owner }) => {
      const server = ledger.servers.find(({ id }) => id === owner.server);
      const instance = ledger.instances.find(({ id }) => id === owner.instance);
      return {
        chargeTime: timestamp(at),
        amount: usd(gross),
        ...{ serverId: server?.uuid ?? "", serverName: server?.name ?? "" },
        ...{ instanceId: instance?.publicId ?? "", instanceName: instance?.name ?? "" },
      };
    });
}

/** The most days that a period may touch. */
const MAX_DAYS = 400;

/** The days of a period in a zone; the message of the error if it has too many. */
export function expectedDaily(
  ledger: Ledger,
  { start, end }: ExpectedPeriod,
  now: string,
  timeZone = "UTC",
) {
  const dateAt = (at: string) =>
    Temporal.Instant.from(at).toZonedDateTimeISO(timeZone).toPlainDate();
  const dates = dateAt(start).until(dateAt(end)).days + 1;
  // The days of a longer period are too many to list; no zone has left out as many.
  const days = dates > 2 * MAX_DAYS ? [] : daysFrom(dateAt(start), dates, timeZone);
  const count = days.length || dates;
  if (count > MAX_DAYS) {
    return `startDate: expected a period of at most 400 days, got ${count} (from ${start} to ${end})`;
  }
  const charges = ledger.charges.filter(({ at }) => isIn({ start, end }, now)(at));
  return {
    startDate: timestamp(start),
    endDate: timestamp(end),
    ...figuresOfDays(charges),
    days: days.map(({ date, first, next }) => ({
      date,
      ...figuresOfDays(charges.filter(({ at }) => first <= at && at < next)),
      partial: start > first || next > after(end) || next > now,
      startTime: timestamp(first),
      endTime: timestamp(next === NEVER ? LAST : next),
    })),
    timeZone,
  };
}

function figuresOfDays(charges: readonly Charge[]) {
  const { gross: grossRevenue, fee: platformFees, earnings, refunds } = money(charges);
  return { grossRevenue, platformFees, earnings, refunds, charges: charges.length };
}

const [FIRST, LAST] = ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"];
/** Sorts after the last instant. */
const NEVER = "9999-12-31T24";
const after = (at: string) => (at === LAST ? NEVER : new Date(Date.parse(at) + 1).toISOString());

/** The days of some dates that a zone has: the first instants of each, and of the next one. */
function daysFrom(from: Temporal.PlainDate, dates: number, timeZone: string) {
  const firstOf = (date: Temporal.PlainDate) => {
    const { epochMilliseconds } = date.toZonedDateTime(timeZone);
    if (epochMilliseconds > Date.parse(LAST)) return NEVER;
    return new Date(Math.max(epochMilliseconds, Date.parse(FIRST))).toISOString();
  };
  const all = Array.from({ length: dates + 1 }, (_, days) => from.add({ days }));
  const firsts = all.map(firstOf);
  return all
    .slice(0, -1)
    .map((date, nth) => ({
      date: `${date}`,
      first: firsts[nth] ?? "",
      next: firsts[nth + 1] ?? "",
    }))
    .filter(({ first, next }) => first < next);
}
