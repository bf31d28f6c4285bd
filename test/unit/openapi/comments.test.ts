/** Comments of a contract as Markdown. */
import { describe, expect, test } from "vitest";
import { commentOf, summaryOf, withoutName } from "../../../dev/openapi/comments.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { messageOf, serviceOf } from "../transcoding/contract.ts";

const service = serviceOf("transcoding.commented.BookService");
const book = messageOf("transcoding.commented.Book");
const page = messageOf("transcoding.commented.Book.Page");
const [getBook, getSilent] = service.methods;

describe("a comment", () => {
  test.each([
    ["a service", service, "BookService keeps books.\n\nIt has a second paragraph."],
    [
      "an RPC",
      getBook,
      "GetBook returns one book, e.g. the first. It has two sentences.\n\nIts list:\n- one item on two lines\n- another",
    ],
    ["an RPC without one", getSilent, ""],
    ["a message, as a block", book, "A book."],
    ["a nested message", page, "A page of a book."],
    ["a field", book.fields[0], "The first page."],
    ["a field of a nested message", page.fields[0], "Its number."],
    ["a field with a trailing comment only", book.fields[2], ""],
  ])("of %s", (_name, desc, expected) => {
    if (desc === undefined) throw new Error("no such declaration");
    expect(commentOf(desc)).toBe(expected);
  });

  test("of generated code is an error: it has no source information", () => {
    expect(() => commentOf(RevenueService)).toThrow(
      new Error("revenue/v1/revenue has no source information"),
    );
  });
});

test.each([
  ["Returns a book.", "Returns a book"],
  ["Returns 0.5 of a book. And more.", "Returns 0.5 of a book"],
  ["A book.\n\nAnd more.", "A book"],
  ["A book, e.g. the first. And more.", "A book, e.g. the first"],
  ["No full stop", "No full stop"],
  ["", ""],
])("the summary of %j is %j", (comment, summary) => {
  expect(summaryOf(comment)).toBe(summary);
});

test("the name of what is described is left out", () => {
  expect(withoutName("GetBook returns a book.", "GetBook")).toBe("Returns a book.");
  expect(withoutName("GetBooks are fine.", "GetBook")).toBe("GetBooks are fine.");
});
