import { describe, expect, it } from "vitest";
import { formatTable, printable } from "../../../src/cli/table.ts";

describe("a table", () => {
  it("aligns its columns under their headings", () => {
    expect(
      formatTable(
        ["ID", "STATUS", "NAME"],
        [
          ["1", "active", "first"],
          ["1234", "", ""],
        ],
      ),
    ).toBe(["ID    STATUS  NAME", "1     active  first", "1234"].join("\n"));
  });

  it("escapes characters that control the terminal", () => {
    expect(printable("\u001b[31mred\r\n\u202eabc\u2066 ok 🚀 👩‍💻 שלום")).toBe(
      "\\u{1b}[31mred\\u{d}\\u{a}\\u{202e}abc\\u{2066} ok 🚀 👩‍💻 שלום",
    );
  });
});
