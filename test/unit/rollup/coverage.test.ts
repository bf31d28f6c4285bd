import { expect, it } from "vitest";
import { chargeCovered, rentalCovered } from "../../../src/rollup/coverage.ts";

it("a charge is covered if it was recorded by the watermark", () => {
  expect(chargeCovered(":watermark")).toBe("recorded_at <= :watermark");
});

it("a rental is covered if it ran, and was last written and ended by the watermark", () => {
  expect(rentalCovered(":watermark")).toBe(
    "ended_at >= started_at AND updated_at <= :watermark AND ended_at <= :watermark",
  );
});
