import { describe, expect, it } from "vitest";
import { createLagLog } from "../../../src/rollup/read/lag-log.ts";
import { collectLog } from "../../support/collected-log.ts";

const NOW = Date.parse("2026-11-20T09:30:00.000Z");

/** A log of lag, and what it wrote. */
function noting() {
  const { log, entries } = collectLog();
  const note = createLagLog(log);
  return {
    entries,
    see: (watermark: string, now = NOW, generation = "1") =>
      note("7", { generation, watermark }, now),
  };
}

describe("the log", () => {
  it("tells nothing of a rollup that is at most ten minutes behind", () => {
    const { see, entries } = noting();
    see("2026-11-20 09:29:00.000");
    see("2026-11-20 09:20:00.001");
    expect(entries()).toEqual([]);
  });

  it("tells how far one is behind that is further", () => {
    const { see, entries } = noting();
    see("2026-11-20 08:29:58.600");
    expect(entries()).toEqual([
      {
        level: "warn",
        providerId: "7",
        watermark: "2026-11-20 08:29:58.600",
        behindSeconds: 3601,
        msg: "rollup is behind: more rows are read",
      },
    ]);
  });

  it("tells where there is none", () => {
    const { see, entries } = noting();
    see("1000-01-01", NOW, "0");
    expect(entries()).toEqual([
      {
        level: "warn",
        providerId: "7",
        msg: "no rollup: every charge is read",
      },
    ]);
  });

  it("tells it once a minute, and no more once the rollup runs again", () => {
    const { see, entries } = noting();
    for (let second = 0; second <= 150; second++) {
      see("2026-11-20 09:00:00.000", NOW + second * 1_000);
    }
    expect(entries().map(({ behindSeconds }) => behindSeconds)).toEqual([1800, 1860, 1920]);
    see("2026-11-20 09:35:00.000", NOW + 360_000);
    expect(entries()).toHaveLength(3);
  });
});
