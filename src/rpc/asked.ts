/** What a call asked for, for its log line. */
import { type DescMethodUnary, type Message, ScalarType } from "@bufbuild/protobuf";
import { excerpt } from "../quote.ts";

/** The fields of a request that were set, by their JSON names. */
export type Asked = Readonly<Record<string, string>>;

/**
 * The fields of a request that are not at their default, each as a short text that is safe to log: it may
 * be what no check has accepted yet. Undefined if there is none.
 */
export function askedOf({ input }: DescMethodUnary, request: Message): Asked | undefined {
  const values: Readonly<Record<string, unknown>> = { ...request };
  const asked: Record<string, string> = {};
  for (const field of input.fields) {
    const value = values[field.localName];
    const isText = field.fieldKind === "scalar" && field.scalar !== ScalarType.BYTES;
    if (isText && value) asked[field.jsonName] = excerpt(String(value));
  }
  return Object.keys(asked).length > 0 ? asked : undefined;
}
