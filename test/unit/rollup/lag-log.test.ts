import { describe, expect, it } from "vitest";
import { createLagLog } from "../../../src/rollup/read/lag-log.ts";
import { collectLog } from "../../support/collected-log.ts";

const NOW = Date.parse("2026-11-20T09:30:00.000Z");

/** A lag log of provider 7, and its entries. */
function createFixture() {
  const { log, entries } = collectLog();
  const reportLag = createLagLog(log);
  return {
    entries,
    report: (watermark: string, now = NOW, generation = "1") =>
      reportLag("7", { generation, watermark }, now),
  };
}

describe("the lag log", () => {
  it("has no entry for a rollup that is less than ten minutes behind", () => {
    const { report, entries } = createFixture();
    report("2026-11-20 09:29:00.000");
    report("2026-11-20 09:20:00.001");
    expect(entries()).toEqual([]);
  });

  it("has an entry for a rollup that is ten minutes behind or more", () => {
    const { report, entries } = createFixture();
    report("2026-11-20 09:20:00.000");
    report("2026-11-20 08:29:58.600", NOW + 60_000);
    expect(entries().map(({ behindSeconds }) => behindSeconds)).toEqual([600, 3661]);
  });

  it("names the provider, and how far its rollup is behind", () => {
    const { report, entries } = createFixture();
    report("2026-11-20 08:29:58.600");
    expect(entries()).toEqual([
      {
        level: "warn",
        providerId: "7",
        watermark: "2026-11-20 08:29:58.600",
        behindSeconds: 3601,
        msg: "rollup is behind",
      },
    ]);
  });

  it("has an entry for a provider without a rollup", () => {
    const { report, entries } = createFixture();
    report("1000-01-01", NOW, "0");
    expect(entries()).toEqual([{ level: "warn", providerId: "7", msg: "provider has no rollup" }]);
  });

  it("has at most one entry a minute, and none after the rollup has caught up", () => {
    const { report, entries } = createFixture();
    for (let second = 0; second <= 150; second++) {
      report("2026-11-20 09:00:00.000", NOW + second * 1_000);
    }
    expect(entries().map(({ behindSeconds }) => behindSeconds)).toEqual([1800, 1860, 1920]);
    report("2026-11-20 09:35:00.000", NOW + 360_000);
    expect(entries()).toHaveLength(3);
  });
});
