/** Time zone data that are newer than those of Node: ICU's own file, with another name of the release, and another clock in India. */
import { readFileSync } from "node:fs";

/** The content of a file in the data of ICU that a program contains: a header, the number of items, the offsets of each. */
function fileOfIcu(program: Buffer, file: string): Buffer {
  let mark = program.indexOf("CmnD", 0, "latin1");
  // The first two bytes after the length of the header are 0xda27.
  while (program.readUInt16BE(mark - 10) !== 0xda27) {
    mark = program.indexOf("CmnD", mark + 1, "latin1");
  }
  const start = mark - 12 + program.readUInt16LE(mark - 12);
  const offset = (item: number, field: 0 | 4) =>
    start + program.readUInt32LE(start + 4 + 8 * item + field);
  const name = (item: number) => {
    const at = offset(item, 0);
    return program.toString("latin1", at, program.indexOf(0, at));
  };
  let item = 0;
  while (!name(item).endsWith(`/${file}`)) item++;
  return Buffer.from(program.subarray(offset(item, 4), offset(item + 1, 4)));
}

/** Two numbers, as ICU stores the offset of a zone in seconds and its summer time. */
const offsetOf = (seconds: number) => Buffer.from(new Int32Array([seconds, 0]).buffer);

/** The content of `zoneinfo64.res` of a release: India is at +05:00. */
export function renewedTimeZones(release: string): Buffer {
  const content = fileOfIcu(readFileSync(process.execPath), "zoneinfo64.res");
  content.write(release, content.indexOf(process.versions.tz ?? "", 0, "utf16le"), "utf16le");
  const [old, renewed] = [offsetOf(19_800), offsetOf(18_000)];
  for (let at = content.indexOf(old); at >= 0; at = content.indexOf(old, at + 1)) {
    if (at % 4 === 0) renewed.copy(content, at);
  }
  return content;
}
