/** `DATABASE_URL_FILE` while it is followed: what is used of it, and what is told. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { readDatabaseUrl } from "../../../src/config.ts";
import { followDatabaseUrl } from "../../../src/db/url-watch.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval"] }));
afterEach(() => void vi.useRealTimers());

/** Lets the file be read so many times. */
const wait = (checks: number) => vi.advanceTimersByTime(checks * 1_000);

const url = (password: string, database = "revenue") => `mysql://u:${password}@db/${database}`;

/** Follows a file until the end of the test, and collects what is logged. */
function follow() {
  const folder = mkdtempSync(join(tmpdir(), "revenue-url-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const environment = { DATABASE_URL_FILE: join(folder, "url") };
  const write = (text: string) => writeFileSync(environment.DATABASE_URL_FILE, text);
  write(url("first"));
  const lines: string[] = [];
  const log = {
    info: (_: object, message: string) => void lines.push(message),
    warn() {},
    error: ({ problems }: { problems?: string[] }) => void lines.push(...(problems ?? [])),
  };
  const current = followDatabaseUrl(environment, readDatabaseUrl(environment), log);
  const remove = () => rmSync(environment.DATABASE_URL_FILE);
  return { write, remove, lines, password: () => current().password };
}

it("what cannot be used is told once, without its text, and the last good one stays", () => {
  const { write, remove, lines, password } = follow();
  write("");
  wait(10);
  write(url("second", "other"));
  wait(10);
  remove();
  wait(10);
  expect(lines).toEqual([
    "the URL in DATABASE_URL_FILE is not set; expected mysql://user:password@host:3306/database, percent-encoded",
    "the URL in DATABASE_URL_FILE names another database, which needs a restart",
    expect.stringMatching(/^DATABASE_URL_FILE names .*, which cannot be read \(ENOENT\)$/),
  ]);
  expect(password()).toBe("first");
  // Used when two readings have found it, so what is half-written never is.
  write("mysql://u:sec@db/revenue");
  wait(1);
  write(url("second"));
  wait(1);
  expect(password()).toBe("first");
  wait(1);
  expect(lines.slice(3)).toEqual(["database URL reloaded"]);
  expect(password()).toBe("second");
});

it("what is no file, such as a pipe, is read once", () => {
  const first = { host: "db", port: 1, user: "u", password: "first", database: "revenue" };
  const log = { info() {}, warn() {}, error: () => expect.fail("read again") };
  const current = followDatabaseUrl({ DATABASE_URL_FILE: "/dev/null" }, first, log);
  wait(10);
  expect(current()).toBe(first);
});
