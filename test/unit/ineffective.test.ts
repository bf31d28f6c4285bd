/** What a start says of settings that do nothing beside the others. */
import { expect, it } from "vitest";
import { ineffective } from "../../src/config/ineffective.ts";
import { readConfig } from "../../src/config.ts";

const told = (environment: Readonly<Record<string, string>>) =>
  ineffective(readConfig({ DATABASE_URL: "mysql://u:p@h/d", ...environment }), environment);

it("limits that are equal, a burst below its rate and an empty variable are not told", () => {
  expect(told({ MAX_CALLS: "250", RATE_LIMIT: "50", RATE_LIMIT_BURST: "10", PORT: "" })).toEqual(
    [],
  );
});

it("all that is without an effect is told at once, with what is right", () => {
  expect(
    told({
      MAX_CALLS: "100",
      RATE_LIMIT_BURST: "20",
      PORT: "3000",
    }),
  ).toEqual([
    "MAX_CALLS_PER_PROVIDER is 250, above MAX_CALLS, 100: it limits nothing; expected at most MAX_CALLS",
    "RATE_LIMIT_BURST is 20, and RATE_LIMIT is 0: there is no limit; expected a RATE_LIMIT",
    "PORT is set, which is no setting: HTTP_PORT and GRPC_PORT are",
  ]);
});
