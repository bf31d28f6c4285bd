import { describe, expect, it } from "vitest";
import {
  chooseCoding,
  chooseMediaType,
  MIN_COMPRESSED_BYTES,
} from "../../../../src/gateway/negotiation.ts";

const FIREFOX =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

describe("Accept", () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, "application/json"],
    ["*/*", "application/json"],
    ["application/json", "application/json"],
    [FIREFOX, "application/json"],
    ["text/csv", "text/csv"],
    ["TEXT/CSV", "text/csv"],
    ["text/csv; charset=utf-8; header=present", "text/csv"],
    ["text/*", "text/csv"],
    ["application/json;q=0.1, text/csv;q=0.5", "text/csv"],
    ["application/json;q=0, */*", "text/csv"],
    [`text/csv;${"x".repeat(1_024)}`, "application/json"],
    ["application/xml", undefined],
    ["application/json;q=0", undefined],
    ["nonsense", undefined],
  ])("%s chooses %s", (accept, chosen) => {
    expect(chooseMediaType(accept, ["application/json", "text/csv"])).toBe(chosen);
  });

  it("chooses among what is offered", () => {
    expect(chooseMediaType("text/csv", ["application/json"])).toBeUndefined();
  });
});

describe("Accept-Encoding", () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ["identity", undefined],
    ["zstd", "zstd"],
    ["br", "br"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, zstd", "zstd"],
    ["gzip;q=1, br;q=0.5", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["*", "br"],
    ["identity, gzip;q=0.5", undefined],
    ["identity;q=0", undefined],
    ["identity;q=0, gzip", "gzip"],
    ["*;q=0, gzip;q=0.1", "gzip"],
    ["GZIP", "gzip"],
    ["gzip;q=abc, , ;;q=", undefined],
    ["gzip,".repeat(300), undefined],
  ])("%s chooses %s", (acceptEncoding, chosen) => {
    expect(chooseCoding(acceptEncoding, MIN_COMPRESSED_BYTES)).toBe(chosen);
  });

  it.each<[string, string | undefined]>([
    ["gzip", undefined],
    ["gzip, identity;q=0.5", undefined],
    ["gzip, identity;q=0", "gzip"],
    ["gzip, *;q=0", "gzip"],
    ["identity;q=0", undefined],
  ])("%s chooses %s for a small body", (acceptEncoding, chosen) => {
    expect(chooseCoding(acceptEncoding, MIN_COMPRESSED_BYTES - 1)).toBe(chosen);
  });
});
