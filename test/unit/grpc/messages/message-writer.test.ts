/** `toBinary` of protobuf-es is what each answer is compared with. */
import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DecimalSchema } from "../../../../gen/google/type/decimal_pb.ts";
import {
  GetOverviewResponseSchema,
  GetServerBreakdownResponseSchema,
  ServerBreakdownSchema,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { compileMessageWriter } from "../../../../src/grpc/messages/message-writer.ts";
import { messageOf } from "../../transcoding/contract.ts";

/** Around the sizes at which a length takes another byte, in any script. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme-ascii", minLength: 120, maxLength: 135 }),
  fc
    .tuple(fc.constantFrom("a", "é", "日", "🙂", "\ud800"), fc.integer({ min: 40, max: 130 }))
    .map(([character, times]) => character.repeat(times)),
  fc.constantFrom(16_383, 16_384, 40_000).map((length) => "x".repeat(length)),
);
const int32 = fc.oneof(
  fc.constantFrom(0, 1, 127, 128, 2 ** 31 - 1, -(2 ** 31), -1),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
);
const int64 = fc.oneof(
  fc
    .integer({ min: 0, max: 63 })
    .chain((bits) => fc.constantFrom(2n ** BigInt(bits) - 1n, -(2n ** BigInt(bits)))),
  fc.bigInt({ min: 0n, max: 2n ** 35n }),
);

function fieldValue(field: DescField): fc.Arbitrary<unknown> {
  if (field.fieldKind === "list")
    return fc.array(messageWith(field.message as DescMessage), { maxLength: 4 });
  if (field.message !== undefined) return fc.option(messageWith(field.message), { nil: undefined });
  if (field.scalar === ScalarType.INT64) return int64;
  return field.scalar === ScalarType.INT32 ? int32 : text;
}

function messageWith(desc: DescMessage): fc.Arbitrary<Message> {
  return fc
    .record(Object.fromEntries(desc.fields.map((field) => [field.localName, fieldValue(field)])))
    .map((fields) => create(desc, fields));
}

function expectSame(desc: DescMessage, message: Message, write = compileMessageWriter(desc)): void {
  expect(write(message).equals(toBinary(desc, message))).toBe(true);
}

it.each([GetOverviewResponseSchema, GetServerBreakdownResponseSchema, DecimalSchema])(
  "%s: any message",
  (desc) => {
    // One writer for all: what a message leaves in its output must not reach the next.
    const write = compileMessageWriter<DescMessage>(desc);
    fc.assert(fc.property(messageWith(desc), (message) => expectSame(desc, message, write)));
  },
);

it("a megabyte, and a small message after it", () => {
  const write = compileMessageWriter(ServerBreakdownSchema);
  const instances = Array.from({ length: 20_000 }, (_, id) => ({
    instanceId: `${id}`,
    instanceName: "é".repeat(id % 50),
    totalRevenue: { value: `${id}.00` },
    totalRentals: id,
  }));
  const large = create(ServerBreakdownSchema, { serverId: "1", instances });
  const bytes = write(large);
  expect(bytes.length).toBeGreaterThan(1_000_000);
  const small = create(ServerBreakdownSchema, { serverId: "2" });
  expectSame(ServerBreakdownSchema, small, write as never);
  expect(bytes.equals(toBinary(ServerBreakdownSchema, large))).toBe(true);
});

it("messages that outgrow the output at any place", () => {
  for (let left = 0; left < 350; left++) {
    const message = create(ServerBreakdownSchema, {
      serverId: "x".repeat(16 * 1024 - left),
      serverName: "y".repeat(100),
      totalRevenue: { value: "1.00" },
      totalRentals: 2 ** 31 - 1,
      instances: [
        { instanceName: "z".repeat(127) },
        { instanceId: "é".repeat(20), activeRentals: -1 },
      ],
    });
    expectSame(ServerBreakdownSchema, message);
  }
});

describe("what is left to protobuf-es", () => {
  it("fields of all types", () => {
    const thing = messageOf("transcoding.supported.Thing");
    const message = create(thing, {
      text: "a",
      i64: -5n,
      wide: 0.5,
      raw: new Uint8Array([1, 2]),
      size: 2,
      part: { name: "b", price: { value: "1" } },
      amount: { value: "1.00" },
      at: { seconds: 5n, nanos: 7 },
      nothing: {},
      maybe: 0,
      numbers: [1, -1],
      parts: [{ name: "" }, { name: "c" }],
    } as never);
    expectSame(thing, message);
  });

  it.each<[string, object]>([
    ["WithRepeated", { names: ["", "a"] }],
    ["WithMap", { names: { a: "b" } }],
    ["WithOneof", { choice: { case: "number", value: 0 } }],
    ["WithItself", { children: [{ children: [{}, {}] }] }],
    ["WithAny", { any: { typeUrl: "a/b", value: new Uint8Array([1]) } }],
    ["WithWrapper", { number: 0 }],
    ["WithNull", { nothing: 0 }],
    ["WithMessage", { response: { name: "a" } }],
  ])("%s", (name, fields) => {
    const desc = messageOf(`transcoding.unsupported.${name}`);
    expectSame(desc, create(desc, fields as never));
  });

  it("an int64 that is a text", () => {
    const desc = messageOf("transcoding.supported.TextNumber");
    for (const number of ["0", "-1", "9007199254740993"]) {
      expectSame(desc, create(desc, { number } as never));
    }
  });

  it("unknown fields", () => {
    const bytes = Buffer.concat([
      toBinary(DecimalSchema, create(DecimalSchema, { value: "1" })),
      Buffer.from([0x78, 1]),
    ]);
    expect(compileMessageWriter(DecimalSchema)(fromBinary(DecimalSchema, bytes))).toEqual(bytes);
  });
});

it.each([1.5, 2 ** 31, Number.NaN])("the int32 %d is an error, as it is there", (value) => {
  const message = create(ServerBreakdownSchema, { totalRentals: value });
  expect(() => compileMessageWriter(ServerBreakdownSchema)(message)).toThrow(/invalid int32/);
});

it("another type's message is an error, as it is there", () => {
  const message = create(GetOverviewResponseSchema) as Message as never;
  expect(() => compileMessageWriter(DecimalSchema)(message)).toThrow(/cannot use/);
});
