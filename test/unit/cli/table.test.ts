import { expect, it } from "vitest";
import { formatTable, printable } from "../../../src/cli/table.ts";

it("a table aligns its columns under their headings", () => {
  const rows = [
    ["1", "active", "first"],
    ["1234", "", ""],
  ];
  expect(formatTable(["ID", "STATUS", "NAME"], rows)).toBe(
    ["ID    STATUS  NAME", "1     active  first", "1234"].join("\n"),
  );
});

it("characters that control the terminal are escaped", () => {
  expect(printable("\u001b[31mred\r\n\u202eabc\u2066 ok 🚀 👩‍💻 שלום")).toBe(
    "\\u{1b}[31mred\\u{d}\\u{a}\\u{202e}abc\\u{2066} ok 🚀 👩‍💻 שלום",
  );
});
