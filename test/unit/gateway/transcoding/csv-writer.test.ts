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
  expect(compiled?.(create(table))).toBe("text,count,big,flag,amount,at,maybe,otherName,own\r\n");
});

test("every type that a cell can have", () => {
  const row = {
    text: "a",
    count: -7,
    big: 9_007_199_254_740_993n,
    flag: true,
    amount: { value: "90071992547409931.10" },
    at: timestampFromMs(Date.UTC(2026, 10, 20, 9, 30, 0, 250)),
    maybe: 0,
    renamed: "b",
  };
  expect(written([row])).toEqual([
    "a,-7,9007199254740993,true,90071992547409931.10,2026-11-20T09:30:00.250Z,0,b,",
  ]);
});

test("a contained message has a row after the row that contains it, with that row's other fields", () => {
  const rows = [
    {
      text: "outer",
      count: 2,
      amount: { value: "3.00" },
      cells: [
        { text: "first", amount: { value: "1.00" }, own: "x" },
        { text: "second", amount: { value: "2.00" }, own: "y" },
      ],
    },
    { text: "alone" },
  ];
  expect(written(rows)).toEqual([
    "outer,2,0,false,3.00,,,,",
    "first,2,0,false,1.00,,,,x",
    "second,2,0,false,2.00,,,,y",
    "alone,0,0,false,,,,,",
  ]);
});

test("the two kinds of rows can have a table each, of which the first has no column of the other", () => {
  const rows = [
    { text: "outer", count: 2, cells: [{ text: "inner", amount: { value: "1.00" }, own: "x" }] },
    { text: "alone" },
  ];
  const write = (kind: "outer" | "contained") =>
    compileCsvWriter(table, "rows", kind)?.(create(table, { rows } as never)).split("\r\n");
  expect(write("outer")).toEqual([
    "text,count,big,flag,amount,at,maybe,otherName",
    "outer,2,0,false,,,,",
    "alone,0,0,false,,,,",
    "",
  ]);
  expect(write("contained")).toEqual([
    "text,count,big,flag,amount,at,maybe,otherName,own",
    "inner,2,0,false,1.00,,,,x",
    "",
  ]);
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
  ["with a comma is quoted", "a,b", '"a,b"'],
  ["with a quotation mark is quoted, and the mark doubled", 'a"b', '"a""b"'],
  ["with a carriage return is quoted", "a\rb", '"a\rb"'],
  ["with a line feed is quoted", "a\nb", '"a\nb"'],
  ["that a spreadsheet would run gets an apostrophe", "=1+1", "'=1+1"],
  ["with a plus sign first too", "+1", "'+1"],
  ["with a minus sign first too", "-1", "'-1"],
  ["with an at sign first too", "@SUM(1)", "'@SUM(1)"],
  ["with a space first too", " =1", "' =1"],
  ["with a quotation mark first too", '"=1', '"\'""=1"'],
  ["with a tab first too, also after it", "\t=1", "\"'\t'=1\""],
  ["with a tab alone", "\ta", '"\'\ta"'],
  ["with a semicolon is quoted", "a;b", '"a;b"'],
  ["with a formula after a semicolon gets an apostrophe", "a;=1+1;b;-2", "\"a;'=1+1;b;'-2\""],
  ["with one after a line break too", "a\n=1", '"a\n\'=1"'],
  ["with one after a semicolon and quotation marks too", 'a;"" =1', '"a;\'"""" =1"'],
  ["with a full-width equals sign first too", "＝1", "'＝1"],
  ["that needs both gets both", '=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
  ["with an equals sign later is left alone", "a=1", "a=1"],
  ["in other scripts is left alone", "Café 東京 😀", "Café 東京 😀"],
])("a text %s", (_, text, cell) => {
  expect(written([{ text }])[0]?.startsWith(`${cell},`)).toBe(true);
});

test("a negative amount is a number, not a formula", () => {
  expect(written([{ amount: { value: "-5.00" } }])).toEqual([",0,0,false,-5.00,,,,"]);
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
