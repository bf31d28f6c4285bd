/**
 * REST to the letter: JSON with every documented field, no others, and decimals with their digits. The headers of
 * each status: test/end-to-end/openapi/document.test.ts.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, { SERVICE_KEYS: "all" });
});
afterAll(() => fixture?.dispose());

async function get(target: string, key = fixture.key): Promise<string> {
  const { status, text } = await rawHttp(fixture.service.http, { target, headers: withKey(key) });
  expect({ status, text }).toMatchObject({ status: 200 });
  return text;
}

/** The JSON of this month and the eleven before it, without charges. */
function emptyMonths(): string {
  const today = Temporal.Now.plainDateISO("UTC");
  return Array.from({ length: 12 }, (_, months) => {
    const month = today.subtract({ months });
    const name = month.toLocaleString("en-US", { month: "long" });
    const start = `${month.toPlainYearMonth()}-01T00:00:00Z`;
    return `{"month":"${name} ${month.year}","monthAbbreviation":"${name.slice(0, 3)}","amount":0.00,"startTime":"${start}"}`;
  }).join(",");
}

const NO_EARNINGS =
  '"totalEarningsYTD":0.00,"platformFeesYTD":0.00,"grossRevenueYTD":0.00,"currentMonthEarnings":0.00';

it("the overview has every field", async () => {
  expect(await get("/api/provider/revenue")).toBe(
    `{"summary":{${NO_EARNINGS},"availableBalance":1250.50},` +
      `"monthlyEarnings":[${emptyMonths()}],` +
      '"serverRevenue":[{"serverId":"6b0f3d1e-5c0e-4c59-9d0a-2f4f4f0d7e11","serverName":"alpha",' +
      '"pricePerHour":2.50,"totalEarnings":4050.04,"platformFees":450.01,"grossRevenue":4500.05,"totalHours":1800.02}],' +
      '"recentPayouts":[{"payoutId":"po-1","date":"2024-04-01T09:30:00Z","amount":4000.00,' +
      '"method":"Bank Transfer","status":"Completed"}]}',
  );
});

it("the overview of a provider without data has zeros and empty lists", async () => {
  expect(await get("/api/provider/revenue", await fixture.issueKey("2"))).toBe(
    `{"summary":{${NO_EARNINGS},"availableBalance":0.00},` +
      `"monthlyEarnings":[${emptyMonths()}],"serverRevenue":[],"recentPayouts":[]}`,
  );
});

const ALPHA = '{"serverId":"6b0f3d1e-5c0e-4c59-9d0a-2f4f4f0d7e11","serverName":"alpha",';

it("the breakdown of a period of days has every field", async () => {
  const target = "/api/provider/revenue/servers?startDate=2024-03-01&endDate=2024-03-31";
  expect(await get(target)).toBe(
    '{"startDate":"2024-03-01T00:00:00Z","endDate":"2024-03-31T23:59:59.999Z",' +
      '"totalServers":1,"activeServers":1,"totalRevenue":4500.05,"totalRentals":1,"activeRentals":0,' +
      `"servers":[${ALPHA}"serverType":"GPU","status":"Active",` +
      '"totalRevenue":4500.05,"totalRentals":1,"activeRentals":0,' +
      '"instances":[{"instanceId":"inst-1","instanceName":"gpu-1","totalRevenue":4500.00,' +
      '"totalRentals":1,"activeRentals":0,"refunds":0.00,"rentedHours":720.00,' +
      '"platformFees":450.00,"earnings":4050.00}],' +
      '"refunds":0.00,"rentedHours":720.00,"platformFees":450.01,"earnings":4050.04}],' +
      '"refunds":0.00,"rentedHours":720.00,"timeZone":"UTC","platformFees":450.01,"earnings":4050.04}',
  );
});

it("the revenue of all providers has every field, for a service key", async () => {
  const target = "/api/platform/revenue?startDate=2024-01-01&endDate=2024-12-31&pageSize=1";
  const text = await get(target, await fixture.issueServiceKey("finance"));
  const [now, token] = [/"dataAsOf":"([\d:.TZ-]+)"/, /"nextPageToken":"([\w-]+)"/].map(
    (field) => field.exec(text)?.[1],
  );
  expect(text).toBe(
    '{"providers":[{"providerId":"1","name":"first","grossRevenue":4500.05,"refunds":0.00,' +
      '"platformFees":450.01,"earnings":4050.04,"charges":2,"rentedHours":720.00,"completedPayouts":4000.00,' +
      `"otherPayouts":0.00,"availableBalance":1250.50,"dataAsOf":"${now}"}],"nextPageToken":"${token}",` +
      '"startDate":"2024-01-01T00:00:00Z","endDate":"2024-12-31T23:59:59.999Z","timeZone":"UTC"}',
  );
});
