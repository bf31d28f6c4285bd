/** Any text, for tests of properties. */
import fc from "fast-check";

const isSurrogate = (point: number) => point >= 0xd800 && point <= 0xdfff;
/** Code points, half of them of ASCII. */
const points = fc.oneof(
  fc.nat(0x7f),
  fc.nat(0x10ffff).filter((point) => !isSurrogate(point)),
);

/** Any text of Unicode. (`fc.string({ unit: "binary" })` takes more than a second to be made.) */
export const anyText: fc.Arbitrary<string> = fc
  .array(points)
  .map((text) => String.fromCodePoint(...text));
