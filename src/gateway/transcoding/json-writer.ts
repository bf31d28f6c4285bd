/**
 * Writers: response message to JSON text, by a plan compiled once from the message descriptor.
 *
 * The text differs from protobuf's JSON mapping in two ways: every field is written (zeros, "" and
 * [] included; null for a message or an `optional` field that is not set), and `google.type.Decimal`
 * is a number.
 *
 * A plan consists of key fragments and functions. Generated code would be faster, but not by enough to
 * justify an eval.
 */
import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type Decimal, DecimalSchema } from "../../../gen/google/type/decimal_pb.ts";
import { writeDecimal } from "./decimal.ts";
import { SCALAR_WRITERS, type Write } from "./scalar-writer.ts";
import { writeTimestamp } from "./timestamp.ts";

/** Writes a message as JSON text. */
export type Writer<O extends DescMessage> = (message: MessageShape<O>) => string;

/**
 * Compiles the writer of a message type. Throws an Error that names the field or the type if it is
 * not supported: numbers but int32, bytes, enums, maps, oneofs, recursive types, and well-known types but Timestamp.
 *
 * The writer throws an Error that names the field if a Decimal is no number or a Timestamp is out of
 * range.
 */
export function compileWriter<O extends DescMessage>(desc: O): Writer<O> {
  return messageWriter(desc, [], desc);
}

/**
 * @param parents the types that contain this one, outermost first
 * @param subject what an error names: the field of this type, or the response type itself
 */
function messageWriter(
  desc: DescMessage,
  parents: readonly DescMessage[],
  subject: DescField | DescMessage,
): Write {
  switch (desc.typeName) {
    case DecimalSchema.typeName:
      return (message) => writeDecimal((message as Decimal).value);
    case TimestampSchema.typeName:
      return (message) => {
        const { seconds, nanos } = message as Timestamp;
        return writeTimestamp(seconds, nanos);
      };
    default:
      if (desc.typeName.startsWith("google.protobuf.")) {
        throw new Error(`${subject}: the well-known type ${desc.typeName} is not supported`);
      }
  }
  if (parents.includes(desc)) {
    throw new Error(`${subject}: a recursive type is not supported`);
  }
  return objectWriter(desc, [...parents, desc]);
}

/** One field of an object. */
interface Step {
  /** The text before the value: `,"serverId":`. */
  readonly key: string;
  /** The message property. */
  readonly property: string;
  readonly write: Write;
}

function objectWriter(desc: DescMessage, parents: readonly DescMessage[]): Write {
  const { fields } = desc;
  const plan = fields.map(
    (field, index): Step => ({
      key: `${index === 0 ? "{" : ","}${JSON.stringify(field.jsonName)}:`,
      property: field.localName,
      write: fieldWriter(field, parents),
    }),
  );
  const end = fields.length === 0 ? "{}" : "}";

  return (message) => {
    // The message type is known at run time only: its properties have no types.
    const values = message as Readonly<Record<string, unknown>>;
    let json = "";
    let index = 0;
    try {
      for (; index < plan.length; index++) {
        const step = plan[index] as Step;
        json += step.key + step.write(values[step.property]);
      }
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${fields[index]}: ${reason}`, { cause });
    }
    return json + end;
  };
}

function fieldWriter(field: DescField, parents: readonly DescMessage[]): Write {
  if (field.oneof !== undefined) throw new Error(`${field}: a member of a oneof is not supported`);
  switch (field.fieldKind) {
    case "map":
      throw new Error(`${field}: a map is not supported`);
    case "list":
      return listWriter(valueWriter(field, parents));
    case "message":
      return orUnset(
        valueWriter(field, parents),
        field.message.typeName === DecimalSchema.typeName ? "0" : "null",
      );
    default: {
      const write = valueWriter(field, parents);
      return field.presence === FeatureSet_FieldPresence.IMPLICIT ? write : orUnset(write, "null");
    }
  }
}

/** The writer of a field's value, or of one item of its list. */
function valueWriter(
  field: DescField & { fieldKind: "scalar" | "enum" | "message" | "list" },
  parents: readonly DescMessage[],
): Write {
  if (field.message !== undefined) return messageWriter(field.message, parents, field);
  const write = field.scalar && SCALAR_WRITERS[field.scalar];
  if (write === undefined) throw new Error(`${field}: a value of this type is not supported`);
  return write;
}

function orUnset(write: Write, unset: string): Write {
  return (value) => (value === undefined ? unset : write(value));
}

function listWriter(write: Write): Write {
  return (value) => {
    const items = value as readonly unknown[];
    if (items.length === 0) return "[]";
    let json = "";
    for (const item of items) json += (json === "" ? "[" : ",") + write(item);
    return `${json}]`;
  };
}
