import { expect, it } from "vitest";
import {
  chargeCovered,
  rentalCovered,
  rentalHeld,
  rentalUnchanged,
} from "../../../src/rollup/coverage.ts";

it("a charge is covered if it was recorded by the watermark", () => {
  expect(chargeCovered(":watermark")).toBe("recorded_at <= :watermark");
});

it("a rental is covered if it ran, ended by the watermark, and was last written by then or is held", () => {
  expect(rentalCovered(":watermark", "7")).toBe(
    `ended_at >= started_at AND ended_at <= :watermark AND (updated_at <= :watermark OR ${rentalHeld("7")})`,
  );
});

it("a rental is unchanged if it ran, and was last written and ended by the watermark", () => {
  expect(rentalUnchanged(":watermark")).toBe(
    "ended_at >= started_at AND updated_at <= :watermark AND ended_at <= :watermark",
  );
});

it("a rental is held if the generation lists it with the same end", () => {
  expect(rentalHeld("7")).toContain(
    "held.generation = 7\n      AND held.ended_at = rentals.ended_at AND held.rental_id = rentals.id",
  );
});
