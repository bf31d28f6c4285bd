/** The lame-duck time: health and readiness turn at once, and the ports serve on. */
import { expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const LAME_DUCK = 6_000;

it("after SIGTERM, readiness fails at once, and new connections are served until the time is over", async () => {
  const fixture = await createFixture(smallLedger, { STOP_LAME_DUCK_MS: `${LAME_DUCK}` });
  const { service, key } = fixture;
  const ready = async () => (await fetch(`${service.admin}/readyz`)).status;
  const get = async () => {
    const request = { target: paths.GetOverview, headers: withKey(key) };
    return (await rawHttp(service.http, request)).status;
  };
  expect(await get()).toBe(200);
  const start = performance.now();
  service.signal("SIGTERM");
  await until(LAME_DUCK - 3_000, async () => (await ready()) === 503);
  expect(await get()).toBe(200);
  expect(await service.ended).toBe(0);
  expect(performance.now() - start).toBeGreaterThan(LAME_DUCK);
  await fixture.dispose();
});

it("SIGINT does not wait", async () => {
  const fixture = await createFixture(smallLedger, { STOP_LAME_DUCK_MS: "60000" });
  fixture.service.signal("SIGINT");
  expect(await fixture.service.ended).toBe(0);
  await fixture.dispose();
}, 30_000);
