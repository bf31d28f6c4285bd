/** The start of a transaction, which the server shows in the time zone of its operating system. */
import { createConnection } from "mysql2/promise";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startPrivateDatabase } from "../../../../dev/private-database/private-database.ts";
import { utcOf } from "../../../../src/rollup/write/pass/clock.ts";

const ZONES: Record<string, Record<string, string>> = {
  "Europe/Berlin": {
    "2026-10-24 23:30:00": "2026-10-24 21:30:00",
    "2026-10-25 01:59:59": "2026-10-24 23:59:59",
    // From 02:00 to 03:00 there are two instants.
    "2026-10-25 02:00:00": "2026-10-25 00:00:00",
    "2026-10-25 02:59:59": "2026-10-25 00:59:59",
    "2026-10-25 03:00:00": "2026-10-25 02:00:00",
    "2026-10-25 12:00:00": "2026-10-25 11:00:00",
    "2026-12-01 12:00:00": "2026-12-01 11:00:00",
    // From 02:00 to 03:00 there is none.
    "2027-03-28 01:59:59": "2027-03-28 00:59:59",
    "2027-03-28 02:30:00": "2027-03-28 01:00:00",
    "2027-03-28 03:00:00": "2027-03-28 01:00:00",
    "2027-07-01 12:00:00": "2027-07-01 10:00:00",
    "2037-10-25 02:30:00": "2037-10-25 00:30:00",
  },
  "America/New_York": {
    "2026-11-01 00:59:59": "2026-11-01 04:59:59",
    "2026-11-01 01:00:00": "2026-11-01 05:00:00",
    "2026-11-01 01:59:59": "2026-11-01 05:59:59",
    "2026-11-01 02:00:00": "2026-11-01 07:00:00",
    "2027-03-14 03:00:00": "2027-03-14 07:00:00",
  },
  // The clocks change by half an hour.
  "Australia/Lord_Howe": {
    "2026-04-05 01:29:59": "2026-04-04 14:29:59",
    "2026-04-05 01:30:00": "2026-04-04 14:30:00",
    "2026-04-05 01:59:59": "2026-04-04 14:59:59",
    "2026-04-05 02:00:00": "2026-04-04 15:30:00",
  },
  UTC: { "2026-10-25 02:30:00": "2026-10-25 02:30:00" },
};

describe.each(Object.entries(ZONES))("in %s", (zone, instants) => {
  it("a local time is the earlier of the two instants that it may be", async () => {
    vi.stubEnv("TZ", zone);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const server = await startPrivateDatabase({ bufferPool: "64M" });
    onTestFinished(() => server.stop());
    const connection = await createConnection({ uri: server.url, dateStrings: true });
    const converted = Object.keys(instants).map((local) => utcOf(`TIMESTAMP'${local}'`));
    const [rows] = await connection.query({ sql: `SELECT ${converted}`, rowsAsArray: true });
    await connection.end();
    expect(rows).toEqual([Object.values(instants)]);
  });
});
