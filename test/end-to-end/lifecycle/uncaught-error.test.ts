/** An uncaught error: the service logs it, finishes the calls in flight and exits with code 1. */
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const PRELOAD = fileURLToPath(new URL("./throw-on-signal.ts", import.meta.url));

it("an uncaught error ends the service with exit code 1, after the calls in flight", async () => {
  const fixture = await createFixture(smallLedger, { NODE_OPTIONS: `--import ${PRELOAD}` });
  onTestFinished(() => fixture.dispose());
  const { service, database, key } = fixture;
  await using lock = await lockTable(database, "charges");
  const call = rawHttp(service.http, { target: paths.GetOverview, headers: withKey(key) });
  await lock.waitForQueries(1);
  const linesOf = (message: string) => service.log().filter(({ msg }) => msg === message);
  service.signal("SIGUSR2");
  await until(10_000, () => linesOf("stopping").length > 0);
  service.signal("SIGUSR2"); // a rejected promise is logged too, and changes nothing
  await until(10_000, () => linesOf("uncaught error").length === 2);
  expect(linesOf("stopped")).toEqual([]);
  await lock.release();

  expect(await call).toMatchObject({ status: 200 });
  expect(await service.ended).toBe(1);
  for (const line of linesOf("uncaught error")) {
    expect(line).toMatchObject({
      level: "fatal",
      type: "Error",
      message: "Lost connection",
      code: "ER_TEST",
      stack: expect.stringContaining("throw-on-signal.ts"),
    });
  }
  expect(linesOf("stopping")).toMatchObject([{ reason: "uncaughtException" }]);
  expect(service.log().at(-1)).toMatchObject({ msg: "stopped" });
  expect(service.output()).not.toContain("secret");
});
