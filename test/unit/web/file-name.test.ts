/** Names of the files that the page gives: safe on every system, with the provider's name. */
import { expect, it } from "vitest";
import { fileName } from "../../../web/src/export/file-name.ts";

const AS_OF = new Date("2026-11-20T12:00:00Z");

it.each([
  ["Nordlicht Compute GmbH", "revenue_Nordlicht-Compute-GmbH_Days_as-of_2026-11-20.csv"],
  ["北京 GPU 集群 🚀", "revenue_北京-GPU-集群_Days_as-of_2026-11-20.csv"],
  ["e\u0301lan / ../..\\x\u0000:*?\u202e\ud800", "revenue_élan-x_Days_as-of_2026-11-20.csv"],
  ["", "revenue_Days_as-of_2026-11-20.csv"],
  [" \u200b🚀. ", "revenue_Days_as-of_2026-11-20.csv"],
])("of the name %j it keeps letters and digits", (name, expected) => {
  expect(fileName(name, ["Days"], AS_OF)).toBe(expected);
});

it("of a long name it keeps 40 characters, and has at most 255 bytes", () => {
  const parts = ["Instances", "2026-11-01", "2026-11-30", "America/Argentina/ComodRivadavia"];
  const name = fileName("\u{20000}".repeat(255), parts, AS_OF);
  expect([...name].filter((character) => character === "\u{20000}")).toHaveLength(40);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name).toMatch(/_America-Argentina-ComodRivadavia_as-of_2026-11-20\.csv$/);
});
