import { describe, expect, it } from "vitest";
import {
  chooseCoding,
  chooseMediaType,
  MIN_COMPRESSED_BYTES,
} from "../../../../src/gateway/negotiation.ts";

it.each<[string | undefined, string | undefined]>([
  [undefined, "application/json"],
  ["text/csv", "text/csv"],
  ["text/csv; charset=utf-8; header=present", "text/csv"],
  ["text/*", "text/csv"],
  ["application/json;q=0.1, text/csv;q=0.5", "text/csv"],
  ["application/json;q=0, */*", "text/csv"],
  [`text/csv;${"x".repeat(1_024)}`, "application/json"],
  ["application/xml", undefined],
])("Accept: %s chooses %s", (accept, chosen) => {
  expect(chooseMediaType(accept, ["application/json", "text/csv"])).toBe(chosen);
});

describe("Accept-Encoding", () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, zstd", "zstd"],
    ["gzip;q=1, br;q=0.5", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["*", "br"],
    ["identity, gzip;q=0.5", undefined],
    ["gzip,".repeat(300), undefined],
  ])("%s chooses %s", (acceptEncoding, chosen) => {
    expect(chooseCoding(acceptEncoding, MIN_COMPRESSED_BYTES)).toBe(chosen);
  });

  it.each<[string, string | undefined]>([
    ["gzip", undefined],
    ["gzip, identity;q=0.5", undefined],
    ["gzip, identity;q=0", "gzip"],
  ])("%s chooses %s for a small body", (acceptEncoding, chosen) => {
    expect(chooseCoding(acceptEncoding, MIN_COMPRESSED_BYTES - 1)).toBe(chosen);
  });
});
