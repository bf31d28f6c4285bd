/**
 * Time zone data that are newer than those of Node, in `ICU_TIMEZONE_FILES_DIR`: the service tells their release, and
 * its days are theirs. The files are those of Node itself, with another name of the release and another clock in India.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { paths, withKey } from "../../support/request.ts";
import { createFixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition } from "../../support/telemetry/exposition.ts";

/** What docs/operations.md names as the four files. */
const FILES = /\/(zoneinfo64|timezoneTypes|metaZones|windowsZones)\.res$/;
const RELEASE = "2099z";

/** The files in the data of ICU that a program contains: a header, the number of items, the offsets of each. */
function* timeZoneFiles(program: Buffer): Generator<readonly [name: string, content: Buffer]> {
  let mark = program.indexOf("CmnD", 0, "latin1");
  // The first two bytes after the length of the header are 0xda27.
  while (mark >= 0 && program.readUInt16BE(mark - 10) !== 0xda27) {
    mark = program.indexOf("CmnD", mark + 1, "latin1");
  }
  const start = mark - 12 + program.readUInt16LE(mark - 12);
  const count = program.readUInt32LE(start);
  const offset = (item: number, field: 0 | 4) =>
    start + program.readUInt32LE(start + 4 + 8 * item + field);
  for (let item = 0; item < count - 1; item++) {
    const at = offset(item, 0);
    const [, name] = FILES.exec(program.toString("latin1", at, program.indexOf(0, at))) ?? [];
    if (name) {
      yield [`${name}.res`, Buffer.from(program.subarray(offset(item, 4), offset(item + 1, 4)))];
    }
  }
}

/** Two numbers, as ICU stores the offset of a zone in seconds and its summer time. */
const offsetOf = (seconds: number) => Buffer.from(new Int32Array([seconds, 0]).buffer);

/** Writes the files into a new folder, and returns it. */
function writeRenewed(): string {
  const folder = mkdtempSync(join(tmpdir(), "revenue-zones-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of timeZoneFiles(readFileSync(process.execPath))) {
    const release = content.indexOf(process.versions.tz ?? "", 0, "utf16le");
    if (name === "zoneinfo64.res") content.write(RELEASE, release, "utf16le");
    const [old, renewed] = [offsetOf(19_800), offsetOf(18_000)];
    for (let at = content.indexOf(old); at >= 0; at = content.indexOf(old, at + 1)) {
      if (at % 4 === 0) renewed.copy(content, at);
    }
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

it("a renewed file is told, and used for days", async () => {
  const fixture = await createFixture(smallLedger, { ICU_TIMEZONE_FILES_DIR: writeRenewed() });
  onTestFinished(() => fixture.dispose());
  const { service, key } = fixture;
  expect(service.log().find(({ msg }) => msg === "listening")).toMatchObject({ tzdata: RELEASE });
  const metrics = parseExposition(await (await fetch(`${service.admin}/metrics`)).text());
  expect(metrics.get("revenue_build_info")?.samples[0]?.labels).toMatchObject({ tzdata: RELEASE });
  expect(metrics.get("revenue_tzdata_release_year")?.samples[0]?.value).toBe(2099);
  const query = "startDate=2026-03-10&endDate=2026-03-10&timeZone=Asia/Kolkata";
  const headers = Object.fromEntries(withKey(key));
  const answer = await fetch(`${service.http}${paths.GetServerBreakdown}?${query}`, { headers });
  expect(await answer.json()).toMatchObject({
    startDate: "2026-03-09T19:00:00Z",
    endDate: "2026-03-10T18:59:59.999Z",
  });
});
