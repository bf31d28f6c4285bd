/**
 * Random ledgers page by page: every charge of the period once, with the sums of the breakdown and of each day, in any
 * zone, with dates that do not exist, and with a rollup or without.
 */
import { expect, it } from "vitest";
import { createRandom } from "../../../dev/random.ts";
import { instantOf } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { atTimeOfCall, breakdownOf, chargesOf, dailyOf } from "../../support/ledger/call.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile, LEDGER } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const database = await databaseOfFile(LEDGER);
const { knex } = database;
const service = createRevenueService(atTimeOfCall(createRead(knex)));
const random = createRandom(SEED);
const { integer, pick, happens } = random;

const NOW = "2026-11-20T09:30:00.000Z";
const WATERMARK = "2026-10-01 00:00:00.000";
const DAY = 86_400_000;
/** Where clocks are changed, where a day was left out, beside UTC, and any other. */
const ZONES = ["Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "America/St_Johns", "UTC"];
const ALL_ZONES = Intl.supportedValuesOf("timeZone");
/** Instants around which charges lie: changes of clocks, the end of the period, and a crowd. */
const MARKS = [
  "2026-03-29T01:00:00.000Z",
  "2026-10-25T01:00:00.000Z",
  "2026-11-01T06:30:00.000Z",
  "2011-12-30T10:00:00.000Z",
  NOW,
].map((mark) => Date.parse(mark));
const CROWD = "2026-10-31 23:59:59.999";
const INVALID = [
  "0000-00-00",
  "0000-01-01",
  "2026-00-00",
  "2026-00-07",
  "2026-03-00",
  "2026-11-00",
];

const datetime = (instant: number) =>
  new Date(instant).toISOString().slice(0, -1).replace("T", " ");

/** DATETIME text of a charge. */
function anyTime(): string {
  const kind = random.between(0, 1);
  if (kind < 0.3) return CROWD;
  if (kind < 0.5)
    return `${pick(INVALID)} ${pick(["00:00:00.000", "00:00:00.001", "23:59:59.999"])}`;
  if (kind < 0.8) return datetime(pick(MARKS) + pick([-1, 0, 0, 1, integer(-DAY, DAY)]));
  return datetime(Date.parse(NOW) - integer(-2 * DAY, 380 * DAY));
}

/** Writes charges of two providers, and resolves to the times of those of the first, by id. */
async function anyLedger(count: number): Promise<Map<string, string>> {
  const times = new Map<string, string>();
  const rows = Array.from({ length: count }, (_, nth) => {
    const [at, own] = [anyTime(), happens(0.8)];
    if (own) times.set(`charge-${nth}`, at);
    return {
      provider_id: own ? 1 : 2,
      server_id: integer(1, 4),
      instance_id: pick([null, 1, 2]),
      public_id: own ? `charge-${nth}` : null,
      charged_at: at,
      recorded_at: datetime(Date.parse(NOW) - integer(1, 90 * DAY)),
      gross: (integer(-5_000, 15_000) / 100).toFixed(2),
    };
  });
  await knex.batchInsert("charges", rows, 500);
  if (happens(0.5)) await build(knex, "1", WATERMARK);
  return times;
}

/** A period, as the texts of a request; of at most 400 days, or of all. */
function anyPeriod(): { startDate: string; endDate: string } {
  if (happens(0.25)) return { startDate: "0001-01-01T00:00:00Z", endDate: "" };
  if (happens(0.25)) return { startDate: "", endDate: "" };
  const end = pick(MARKS) + pick([-1, 0, 1, integer(0, 30 * DAY)]);
  const start = end - pick([0, 1, DAY, integer(0, 390 * DAY)]);
  const [startDate, endDate] = [start, end].map((at) => new Date(at).toISOString());
  const inDates = happens(0.5) && !startDate?.startsWith("2011");
  const form = (text = "") => (inDates ? text.slice(0, 10) : text);
  return { startDate: form(startDate), endDate: form(endDate) };
}

interface Page {
  readonly charges: readonly Readonly<Record<"chargeId" | "chargeTime", string> & Money>[];
  readonly nextPageToken: string;
  readonly startDate: string;
  readonly endDate: string;
}
interface Money {
  readonly amount: { readonly value: string };
}

/** All pages, whose sizes change. */
async function pagesOf(request: object, sizes: readonly number[]): Promise<Page[]> {
  const pages: Page[] = [];
  for (let pageToken = ""; pages.length === 0 || pageToken !== ""; ) {
    const page = await chargesOf(
      service,
      1n,
      { ...request, pageSize: pick(sizes), pageToken },
      NOW,
    );
    expect(page).toBeTypeOf("object");
    pages.push(page as unknown as Page);
    pageToken = pages.at(-1)?.nextPageToken ?? "";
  }
  return pages;
}

const cents = (value: string) => BigInt(value.replace(".", ""));
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);

it.each([
  [[1], 60],
  [[2], 110],
  [[50], 400],
  [[1_000], 2_100],
  [[1, 2, 3, 50, 1_000], 300],
])(
  `in pages of %j, charges are those of the period, and add up to the breakdown and to each day ${SEEDED}`,
  async (sizes, most) => {
    for (let made = 0; made < 4 * SOAK; made++) {
      for (const table of LEDGER) await knex(table).del();
      const times = await anyLedger(integer(1, most));
      const timeZone = pick([pick(ZONES), pick(ALL_ZONES)]);
      const asked = { ...anyPeriod(), timeZone };
      const pages = await pagesOf(asked, sizes);
      const context = JSON.stringify(asked);
      for (const page of pages) {
        expect(page, context).toMatchObject({
          startDate: pages[0]?.startDate,
          endDate: pages[0]?.endDate,
        });
      }
      const charges = pages.flatMap((page) => page.charges);
      const [startDate = "", endDate = ""] = [pages[0]?.startDate, pages[0]?.endDate];

      // Newest first, the last that was written before the others of its instant, and each once.
      const within = [...times].filter(([, at]) => {
        const instant = instantOf(at);
        const until = Math.min(Date.parse(endDate), Date.parse(NOW));
        return Date.parse(startDate) <= instant && instant <= until;
      });
      const number = (id: string) => Number(id.slice("charge-".length));
      within.sort(([a, one], [b, other]) =>
        one === other ? number(b) - number(a) : one < other ? 1 : -1,
      );
      expect(
        charges.map(({ chargeId }) => chargeId),
        context,
      ).toEqual(within.map(([id]) => id));

      const call = [service, 1n, NOW, startDate, endDate, timeZone] as const;
      const breakdown = await breakdownOf(...call);
      const amounts = charges.map(({ amount }) => cents(amount.value));
      const figures = (values: readonly bigint[]) => [
        sum(values),
        sum(values.filter((v) => v < 0n)),
      ];
      const { totalRevenue, refunds } = breakdown as Record<string, Money["amount"]>;
      const told = [totalRevenue, refunds].map((figure) => cents(figure?.value ?? ""));
      expect(told, context).toEqual(figures(amounts));

      const daily = await dailyOf(...call);
      if (typeof daily === "string") {
        expect(daily).toContain("at most 400 days");
        continue;
      }
      const { days } = daily as unknown as { days: Record<string, Money["amount"]>[] };
      const ofDay = Map.groupBy(charges, ({ chargeTime }) =>
        Temporal.Instant.from(chargeTime).toZonedDateTimeISO(timeZone).toPlainDate().toString(),
      );
      for (const day of days) {
        const values = (ofDay.get(`${day.date}`) ?? []).map(({ amount }) => cents(amount.value));
        const told = [day.grossRevenue, day.refunds].map((figure) => cents(figure?.value ?? ""));
        expect([...told, day.charges], `${day.date} of ${context}`).toEqual([
          ...figures(values),
          values.length,
        ]);
        ofDay.delete(`${day.date}`);
      }
      expect([...ofDay.keys()], context).toEqual([]);
    }
  },
);
