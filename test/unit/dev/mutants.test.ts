/** What `npm run mutants` changes in the code, and the list of what may stay undetected. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mutantsOf } from "../../../dev/mutants/mutations.ts";
import { sample } from "../../../dev/mutants/sample.ts";
import { SURVIVORS } from "../../../dev/mutants/survivors.ts";
import { ROOT } from "../architecture/source.ts";

it.each<[before: string, ...after: string[]]>([
  ["if (a) b();", "if (!(a)) b();", "if (a) ;"],
  ["x = a ? 1 : 2n;", ";", "x = !(a) ? 1 : 2n;", "x = a ? 2 : 2n;", "x = a ? 1 : 3n;"],
  ["f(a < b, a === b);", ";", "f(a <= b, a === b);", "f(a < b, a !== b);"],
  ["f(a + b, 'a' + b);", ";", "f(a - b, 'a' + b);"],
  ["f((a && b) ?? c);", ";", "f(((a && b) && c));", "f(((a || b)) ?? c);"],
  ["n += true;", ";", "n -= true;", "n += false;"],
  ["const f = () => a;", "const f = () => undefined;"],
  ["function f(a?: 3): 4 { return a as 5; }", "function f(a?: 3): 4 { return undefined; }"],
  ["function f() { return undefined; }"],
  ['import a from "a"; type B = 3 | true; const c = /1/;'],
])("%s", (before, ...after) => {
  const mutants = mutantsOf("a.ts", `${before}\n`);
  expect(mutants.map((mutant) => mutant.after)).toEqual(expect.arrayContaining(after));
  expect(mutants).toHaveLength(after.length);
  expect(mutants.map(({ text }) => text)).toEqual(mutants.map((mutant) => `${mutant.after}\n`));
});

it("a seed chooses the same mutants, also where other lines have changed", () => {
  const text = Array.from({ length: 50 }, (_, index) => `f(${index} < x);\n`).join("");
  const chosen = (text: string, seed: number) =>
    sample(mutantsOf("a.ts", text), 20, seed).map(({ after }) => after);
  expect(chosen(text, 1)).not.toEqual(chosen(text, 2));
  const others = chosen(`// new\ng(y);\n${text}`, 1);
  expect(chosen(text, 1).filter((after) => others.includes(after)).length).toBeGreaterThan(18);
});

it("every mutant that may stay undetected is one of the code, and is listed once", () => {
  const rows = SURVIVORS.map(({ path, before, after }) => `${path}: ${before} → ${after}`);
  expect(new Set(rows).size).toBe(rows.length);
  const gone = SURVIVORS.filter(
    ({ path, before, after }) =>
      !mutantsOf(path, readFileSync(join(ROOT, path), "utf8")).some(
        (mutant) => mutant.before === before && mutant.after === after,
      ),
  );
  expect(gone).toEqual([]);
});
