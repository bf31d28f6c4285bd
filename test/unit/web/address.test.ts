/** The address of the page: what it keeps, and what it never has. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { readAddress, writeAddress } from "../../../web/src/address.ts";

it("an address that was written is read as the same", () => {
  const part = fc.option(fc.string({ minLength: 1, maxLength: 8 }), { nil: undefined });
  const names = ["zone", "period", "chart", "statement", "charges", "server"];
  fc.assert(
    fc.property(fc.record(Object.fromEntries(names.map((name) => [name, part]))), (address) => {
      expect(readAddress(writeAddress(address))).toEqual(address);
    }),
  );
});

it("a zone and a period can be read in it; what has another name is left out, such as a key", () => {
  const query = "?zone=Asia%2FKolkata&period=2026-11-01_2026-11-28&chart=30+days";
  expect(writeAddress(readAddress(`${query}&key=rvk_secret&server=&x=y`))).toBe(query);
});
