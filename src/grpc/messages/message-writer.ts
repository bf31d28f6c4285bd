/**
 * Writers: response message to protobuf's wire format, by a plan compiled once from the message
 * descriptor. The bytes are those of protobuf-es's `toBinary`, in half of its time for the many short
 * strings of a large response. Message types with other fields than strings, int32, int64, messages
 * and lists of messages are left to `toBinary`.
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */
import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter, INT32_MAX, WireType } from "@bufbuild/protobuf/wire";
import { FeatureSet_FieldPresence, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Output } from "./output.ts";

/** The largest buffer that is kept for the next message, in bytes. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** Writes a message without its length prefix, or a field with its tag, at the end of the output. */
type Write = (output: Output, value: unknown) => void;

/** Compiles the writer of a message type. It throws an Error if a value does not fit its field. */
export function compileMessageWriter<O extends DescMessage>(
  desc: O,
): (message: MessageShape<O>) => Buffer {
  const write = messageWriter(desc, []);
  let output = new Output();
  return (message) => {
    output.length = 0;
    write(output, message);
    const bytes = output.copy();
    if (output.capacity > MAX_KEPT_BYTES) output = new Output();
    return bytes;
  };
}

/** @param parents the types that contain this one, outermost first */
function messageWriter(desc: DescMessage, parents: readonly DescMessage[]): Write {
  const fields = desc.fields.toSorted((a, b) => a.number - b.number);
  const plan = fields.map((field) => ({
    property: field.localName,
    write: fieldWriter(field, [...parents, desc]),
  }));
  const byLibrary: Write = (output, message) => output.raw(toBinary(desc, message as Message));
  if (!plan.every(isSupported)) return byLibrary;

  return (output, message) => {
    // The message type is known at run time only: its properties have no types.
    const values = message as Message & Readonly<Record<string, unknown>>;
    if (values.$typeName !== desc.typeName || values.$unknown !== undefined) {
      byLibrary(output, message);
      return;
    }
    for (const { property, write } of plan) write(output, values[property]);
  };
}

function isSupported<Step extends { readonly write: Write | undefined }>(
  step: Step,
): step is Step & { readonly write: Write } {
  return step.write !== undefined;
}

/** Returns undefined if the field is not supported. */
function fieldWriter(field: DescField, parents: readonly DescMessage[]): Write | undefined {
  if (field.oneof !== undefined) return undefined;
  switch (field.fieldKind) {
    case "scalar":
      return field.presence === FeatureSet_FieldPresence.IMPLICIT ? scalarWriter(field) : undefined;
    case "message": {
      const write = nestedWriter(field, parents);
      return write && ((output, value) => value !== undefined && write(output, value));
    }
    case "list": {
      if (field.listKind !== "message") return undefined;
      const write = nestedWriter(field, parents);
      return (
        write &&
        ((output, value) => {
          for (const item of value as readonly unknown[]) write(output, item);
        })
      );
    }
    default:
      return undefined;
  }
}

function scalarWriter(field: DescField & { fieldKind: "scalar" }): Write | undefined {
  switch (field.scalar) {
    case ScalarType.STRING: {
      const tag = tagOf(field, WireType.LengthDelimited);
      return (output, value) => {
        if (value === "") return;
        output.varint(tag);
        output.text(value as string);
      };
    }
    case ScalarType.INT32: {
      const tag = tagOf(field, WireType.Varint);
      return (output, value) => {
        if (value === 0) return;
        output.varint(tag);
        const number = value as number;
        if (Number.isInteger(number) && number > 0 && number <= INT32_MAX) output.varint(number);
        else output.raw(new BinaryWriter().int32(number).finish());
      };
    }
    case ScalarType.INT64: {
      if (field.longAsString) return undefined;
      const tag = tagOf(field, WireType.Varint);
      return (output, value) => {
        if (value === 0n) return;
        output.varint(tag);
        const number = Number(value);
        if (number > 0 && Number.isSafeInteger(number)) output.varint(number);
        else output.raw(new BinaryWriter().int64(value as bigint).finish());
      };
    }
    default:
      return undefined;
  }
}

/** The writer of a message with its tag and length prefix. */
function nestedWriter(
  field: Pick<DescField & { fieldKind: "message" }, "number" | "message" | "delimitedEncoding">,
  parents: readonly DescMessage[],
): Write | undefined {
  const { message: desc } = field;
  // Wrappers and structs have another form in the message that contains them.
  const isWellKnown = desc.typeName.startsWith("google.protobuf.");
  if (isWellKnown && desc.typeName !== TimestampSchema.typeName) return undefined;
  if (parents.includes(desc) || field.delimitedEncoding) return undefined;
  const tag = tagOf(field, WireType.LengthDelimited);
  const write = messageWriter(desc, parents);
  return (output, message) => {
    output.varint(tag);
    const start = output.beginDelimited();
    write(output, message);
    output.endDelimited(start);
  };
}

function tagOf({ number }: Pick<DescField, "number">, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}
