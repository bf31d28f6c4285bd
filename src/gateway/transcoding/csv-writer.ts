/**
 * CSV writers: response message to CSV text, by a plan compiled once from the message descriptor.
 *
 * The rows are the messages of one repeated field: the only one, or the one that is named. If these
 * have a repeated message field of their own, each of its messages has a row too, after the
 * row that contains it. Such a row repeats the fields of the containing row, except those that it has
 * itself. So there is a column for each JSON name, and the rows with an empty value in the columns of
 * the contained messages add up to the whole. Somebody who adds up all rows counts twice what is in
 * contained messages: the two kinds of rows can have a table each.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
import {
  type DescField,
  type DescMessage,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type Decimal, DecimalSchema } from "../../../gen/google/type/decimal_pb.ts";
import { writeDecimal } from "./decimal.ts";
import type { Writer } from "./json-writer.ts";
import { writeTimestamp } from "./timestamp.ts";

/** A message of a type that is known at run time only. */
type Values = Readonly<Record<string, unknown>>;

type WriteCell = (value: unknown) => string;

/** The rows of a table: those of the field, those of the messages contained in them, or both. */
export type CsvRows = "outer" | "contained" | "all";

/** A field that is a column. */
interface Column {
  readonly name: string;
  readonly property: string;
  readonly write: WriteCell;
}

/** What a spreadsheet would run, also with the full-width forms of the characters, and what it skips before. */
const FORMULA = '["\\s]*[=+\\-@＝＋－＠]';
/**
 * Where a spreadsheet may see the start of a cell inside a text: after a line break or a tab, and after ";", which
 * separates cells where amounts have a decimal comma. Quotes do not help there: they count at the start of a cell,
 * and that cell begins before the text.
 */
const FORMULA_WITHIN = new RegExp(`([;\\t\\r\\n])(?=${FORMULA})`, "g");
const FORMULA_FIRST = new RegExp(`^(?=${FORMULA}|[\\t\\r])`);
const NEEDS_QUOTES = /[",;\t\r\n]/;

/**
 * Compiles the CSV writer of a response; undefined if it has no list of rows, or several of which none is named, or
 * no rows of this kind.
 *
 * @param name of the field with the rows, where the response has several
 * @throws Error that names the field if it is not supported
 */
export function compileCsvWriter(
  response: DescMessage,
  name?: string,
  rows: CsvRows = "all",
): Writer<DescMessage> | undefined {
  const lists = listsOf(response);
  const [first, ...others] = lists;
  const list = name === undefined ? first : lists.find((field) => field.name === name);
  if (name !== undefined && list === undefined) {
    throw new Error(`rows of CSV: ${response} has no repeated message field "${name}"`);
  }
  if (list === undefined || (name === undefined && others.length > 0)) return undefined;
  return tableWriter(list.localName, list.message, rows);
}

/** The repeated message fields of a message type. */
function listsOf(desc: DescMessage) {
  return desc.fields.filter(
    (field) => field.fieldKind === "list" && field.message !== undefined,
  ) as (DescField & { readonly fieldKind: "list"; readonly message: DescMessage })[];
}

function tableWriter(
  property: string,
  desc: DescMessage,
  rows: CsvRows,
): Writer<DescMessage> | undefined {
  const list = nestedList(desc);
  const outer = columnsOf(desc, list?.field);
  const nested = rows === "outer" ? undefined : list;
  if (rows === "contained" && nested === undefined) return undefined;
  const inner = nested === undefined ? [] : columnsOf(nested.message);
  const names = [...new Set([...outer, ...inner].map(({ name }) => name))];
  const header = names.map(textCell).join(",");
  const writeOuter = rowWriter(names, [outer]);
  const writeInner = rowWriter(names, [inner, outer]);
  return (message: MessageShape<DescMessage>) => {
    let csv = `${header}\r\n`;
    for (const row of (message as unknown as Values)[property] as readonly Values[]) {
      if (rows !== "contained") csv += writeOuter([row]);
      if (nested === undefined) continue;
      for (const contained of row[nested.field.localName] as readonly Values[]) {
        csv += writeInner([contained, row]);
      }
    }
    return csv;
  };
}

/**
 * A row with a cell for each name: from the first message that has it, or empty.
 *
 * @param columns of each message
 */
function rowWriter(
  names: readonly string[],
  columns: readonly (readonly Column[])[],
): (messages: readonly Values[]) => string {
  const cells = names.map((name) => {
    const index = columns.findIndex((some) => some.some((column) => column.name === name));
    return { index, column: columns[index]?.find((column) => column.name === name) };
  });
  return (messages) => {
    const row = cells.map(({ index, column }) => {
      const value = column && messages[index]?.[column.property];
      return column === undefined || value === undefined ? "" : column.write(value);
    });
    return `${row.join(",")}\r\n`;
  };
}

/** The repeated message field of a message type. */
function nestedList(desc: DescMessage) {
  const [nested, another] = listsOf(desc);
  if (another !== undefined) {
    throw new Error(`${another}: a second repeated field is not supported in CSV`);
  }
  if (nested === undefined) return undefined;
  if (nested.message.typeName.startsWith("google.")) {
    throw new Error(`${nested}: not supported in CSV`);
  }
  return { field: nested, message: nested.message };
}

/** The columns of a message type, without its repeated field. */
function columnsOf(desc: DescMessage, nested?: DescField): readonly Column[] {
  return desc.fields
    .filter((field) => field !== nested)
    .map((field) => ({
      name: field.jsonName,
      property: field.localName,
      write: cellWriter(field),
    }));
}

function cellWriter(field: DescField): WriteCell {
  if (field.fieldKind === "scalar" && field.scalar !== ScalarType.BYTES) {
    return field.scalar === ScalarType.STRING ? (value) => textCell(value as string) : String;
  }
  switch (field.message?.typeName) {
    case DecimalSchema.typeName:
      return (value) => writeDecimal((value as Decimal).value);
    case TimestampSchema.typeName:
      return (value) => {
        const { seconds, nanos } = value as Timestamp;
        return writeTimestamp(seconds, nanos).slice(1, -1);
      };
    default:
      throw new Error(`${field}: not supported in CSV`);
  }
}

/** A text as a cell. A spreadsheet takes a cell that starts with an apostrophe as text. */
function textCell(text: string): string {
  const harmless = text.replace(FORMULA_WITHIN, "$1'").replace(FORMULA_FIRST, "'");
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
