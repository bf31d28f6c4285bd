import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { compileCsvWriter } from "../../../../src/gateway/transcoding/csv-writer.ts";
import { messageOf } from "./contract.ts";

const table = messageOf("transcoding.supported.Table");
const compiled = compileCsvWriter(table, "rows");

/** The lines of a table, without the header. */
function written(rows: readonly object[]): readonly string[] {
  const csv = compiled?.(create(table, { rows } as never)) ?? "";
  expect(csv.endsWith("\r\n")).toBe(true);
  return csv.slice(0, -2).split("\r\n").slice(1);
}

test("the header has each JSON name once, those of contained messages last", () => {
  expect(compiled?.(create(table))).toBe("text,count,flag,amount,at,maybe,otherName,own\r\n");
});

test("every type that a cell can have", () => {
  const row = {
    text: "a",
    count: -7,
    flag: true,
    amount: { value: "90071992547409931.10" },
    at: timestampFromMs(Date.UTC(2026, 10, 20, 9, 30, 0, 250)),
    maybe: 0,
    renamed: "b",
  };
  expect(written([row])).toEqual(["a,-7,true,90071992547409931.10,2026-11-20T09:30:00.250Z,0,b,"]);
});

test("a contained message has a row after the row that contains it, with that row's other fields", () => {
  const cells = [
    { text: "first", amount: { value: "1.00" }, own: "x" },
    { text: "second", amount: { value: "-2.00" }, own: "y" },
  ];
  const rows = [{ text: "outer", count: 2, amount: { value: "-1.00" }, cells }, { text: "alone" }];
  expect(written(rows)).toEqual([
    "outer,2,false,-1.00,,,,",
    "first,2,false,1.00,,,,x",
    "second,2,false,-2.00,,,,y",
    "alone,0,false,,,,,",
  ]);
});

test("the two kinds of rows can have a table each, of which the first has no column of the other", () => {
  const rows = [{ text: "outer", cells: [{ text: "inner", own: "x" }] }, { text: "alone" }];
  const write = (kind: "outer" | "contained") =>
    compileCsvWriter(table, "rows", kind)?.(create(table, { rows } as never));
  expect(write("outer")).toBe(
    "text,count,flag,amount,at,maybe,otherName\r\nouter,0,false,,,,\r\nalone,0,false,,,,\r\n",
  );
  expect(write("contained")).toBe(
    "text,count,flag,amount,at,maybe,otherName,own\r\ninner,0,false,,,,,x\r\n",
  );
  expect(compileCsvWriter(table, "others", "contained")).toBeUndefined();
});

test("the only list of a response is its rows; of several, none unless it is named", () => {
  const flat = messageOf("transcoding.supported.FlatTable");
  const others = [{ name: "a", price: { value: "1.00" } }];
  expect(compileCsvWriter(flat)?.(create(flat, { others } as never))).toBe(
    "name,price\r\na,1.00\r\n",
  );
  expect(compileCsvWriter(table)).toBeUndefined();
  expect(compileCsvWriter(messageOf("transcoding.supported.Part"))).toBeUndefined();
});

test.each([
  ["a comma", "a,b", '"a,b"'],
  ["a quotation mark", 'a"b', '"a""b"'],
  ["a carriage return", "a\rb", '"a\rb"'],
  ["a line feed", "a\nb", '"a\nb"'],
  ["a semicolon", "a;b", '"a;b"'],
  ["a formula, which a spreadsheet would run", "=1+1", "'=1+1"],
  ["another start of one", "+1", "'+1"],
  ["a minus sign first", "-1", "'-1"],
  ["an at sign first", "@SUM(1)", "'@SUM(1)"],
  ["a full-width equals sign first", "＝1", "'＝1"],
  ["a formula after a space", " =1", "' =1"],
  ["a formula after a quotation mark", '"=1', '"\'""=1"'],
  ["a formula after a tab", "\t=1", "\"'\t'=1\""],
  ["a tab first", "\ta", '"\'\ta"'],
  ["formulas after semicolons", "a;=1+1;b;-2", "\"a;'=1+1;b;'-2\""],
  ["a formula after a line break", "a\n=1", '"a\n\'=1"'],
  ["one after a semicolon and quotation marks", 'a;"" =1', '"a;\'"""" =1"'],
  ["an equals sign later", "a=1", "a=1"],
])("a text with %s is written as %j", (_, text, cell) => {
  expect(written([{ text }])[0]?.startsWith(`${cell},`)).toBe(true);
});

test.each([
  ["rows", 'has no repeated message field "rows"'],
  ["name", 'has no repeated message field "name"'],
  ["names", 'has no repeated message field "names"'],
  ["two_lists", "others: a second repeated field is not supported in CSV"],
  ["messages", "tables: not supported in CSV"],
  ["numbers", "numbers: not supported in CSV"],
  ["amounts", "amounts: not supported in CSV"],
])("a field that is not there or not supported is an error at start: %s", (name, message) => {
  expect(() => compileCsvWriter(messageOf("transcoding.unsupported.Tables"), name)).toThrow(
    message,
  );
});
