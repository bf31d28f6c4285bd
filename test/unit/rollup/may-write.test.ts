/** Which statements hold the watermark back, by their first words. Without a reason to the contrary one does. */
import { expect, it } from "vitest";
import { mayWrite } from "../../../src/rollup/write/run/writers.ts";

it.each([
  ["INSERT INTO charges VALUES (1)", true],
  ["SET STATEMENT max_statement_time = 1 FOR INSERT INTO charges VALUES (1)", true],
  ["WITH x AS (SELECT 1) UPDATE rentals SET ended_at = NOW()", true],
  ["ANALYZE INSERT INTO charges VALUES (1)", true],
  ["/* never closed INSERT", true],
  ["selection", true],
  ["", true],
  ["--\nINSERT INTO charges\nSELECT 1", true],
  ["-- SELECT", true],
  ["-- report\n# of the month\n/* x */ SELECT 1", false],
  ["((/* a\n * b */select\n1)", false],
  ["ALTER TABLE charges COMMENT ''", false],
  ["ANALYZE  LOCAL\nTABLE charges", false],
  ["FLUSH TABLES WITH READ LOCK", false],
])("%j: %j", (statement, expected) => {
  expect(mayWrite(statement)).toBe(expected);
});
