/** The tables of the documentation are those of the code: errors, limits, metrics, settings, commands, packages. */
import { parseEnv } from "node:util";
import { status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { createLedger } from "../../dev/demo-data/ledger.ts";
import { environmentExample } from "../../dev/settings.ts";
import { FAILURES_PER_ADDRESS } from "../../src/auth/authentication.ts";
import { KEY_QUERY_TIMEOUT, MAX_KEY_LOOKUPS } from "../../src/auth/key-queue.ts";
import { ROLLUP_FLAGS } from "../../src/cli/rollup-flags.ts";
import { readConfig, VARIABLES } from "../../src/config.ts";
import { POOL_WAIT } from "../../src/db/query.ts";
import {
  MAX_MESSAGE_BYTES,
  ServiceError,
  type ServiceErrorKind,
  serviceErrors,
} from "../../src/errors.ts";
import { errorResponse, methodNotAllowed } from "../../src/gateway/errors.ts";
import { HTTP_LIMITS } from "../../src/gateway/http/limits.ts";
import { MAX_WATCHES } from "../../src/grpc/health.ts";
import { GRPC_LIMITS } from "../../src/grpc/limits.ts";
import { MAX_REFLECTIONS, QUESTIONS } from "../../src/grpc/reflection.ts";
import { MAX_SURPLUS } from "../../src/grpc/request.ts";
import { MAX_UNREAD_BYTES } from "../../src/net/unread.ts";
import { reasonOf } from "../../src/rpc/error-details.ts";
import { HANDSHAKE_TIMEOUT } from "../../src/tls/port-tls.ts";
import { parseExposition } from "../support/telemetry/exposition.ts";
import { codeIn, commands, page, rootFile, tableWith } from "./markdown.ts";
import { metricTexts } from "./metrics.ts";

const manifest: Record<"dependencies" | "scripts", Record<string, string>> = JSON.parse(
  rootFile("package.json"),
);
const config = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });

describe("errors", () => {
  /** A row of the table, as far as a program can read it. The text of `message` is left out. */
  interface Row {
    readonly status: number;
    readonly code: string;
    readonly reason: string;
    readonly fields: Readonly<Record<string, string>>;
    readonly headers: readonly string[];
  }

  const HEADERS = ["Retry-After", "WWW-Authenticate", "Allow"];
  const rows = tableWith("REST", "gRPC and Connect", "reason", "when", "body");
  const documented = rows.map(([rest = "", code = "", reason = "", , body = ""], index): Row => {
    const above = rows.slice(0, index).findLast((row) => row[4] !== "the same");
    const text = body === "the same" ? (above?.[4] ?? "") : body;
    return {
      status: Number(rest),
      code: code.replaceAll("`", ""),
      reason: reason.replaceAll("`", ""),
      fields: JSON.parse(text.match(/`(\{.*?\})`/)?.[1] ?? "{}"),
      headers: HEADERS.filter((name) => text.includes(`\`${name}`)),
    };
  });

  /** The row of an error, from its response. */
  function rowOf(kind: ServiceErrorKind): Row {
    const error = new ServiceError(kind);
    const response = kind === "methodNotAllowed" ? methodNotAllowed(["GET"]) : errorResponse(error);
    const fields: Record<string, string> = JSON.parse(response.body);
    return {
      status: response.status,
      code: status[error.entry.code] ?? "",
      reason: reasonOf(kind),
      fields: "message" in fields ? { ...fields, message: "…" } : fields,
      headers: HEADERS.filter((name) => name.toLowerCase() in response.headers),
    };
  }

  it("docs/api.md has every error that a caller can see, and no other", () => {
    const kinds = Object.keys(serviceErrors) as ServiceErrorKind[];
    // Nobody sees the error of a call whose caller has disconnected.
    const seen = kinds.filter((kind) => kind !== "canceled").map(rowOf);
    expect(new Set(documented)).toEqual(new Set(seen));
    expect(documented).toHaveLength(seen.length);
  });
});

describe("limits", () => {
  const UNITS: Readonly<Record<string, number>> = { "": 1, s: 1000, KiB: 1024, MiB: 1_048_576 };

  /** A value as a count, in ms or in bytes. */
  function limitValue(text: string): number {
    const [, digits = "", unit = ""] = /^([\d,]+)(?: (s|KiB|MiB))?$/.exec(text) ?? [];
    return Number(digits.replaceAll(",", "") || Number.NaN) * (UNITS[unit] ?? Number.NaN);
  }

  /** The constants, by the beginning of their row, in the order of the table. */
  const CONSTANTS: Readonly<Record<string, number>> = {
    "calls that wait for their API key": MAX_KEY_LOOKUPS,
    "failed authentications of one client address per second": FAILURES_PER_ADDRESS.rate,
    "wait for a connection to the database": POOL_WAIT,
    "lookup of an API key": KEY_QUERY_TIMEOUT,
    "response bytes that clients have not read": MAX_UNREAD_BYTES,
    "time that a client takes to read a response": HTTP_LIMITS.responseTimeout,
    "headers of a request": HTTP_LIMITS.maxHeaderSize,
    "time until the request": HTTP_LIMITS.requestTimeout,
    "message to Connect": MAX_MESSAGE_BYTES,
    "time until the TLS handshake": HANDSHAKE_TIMEOUT,
    "time until the preface": GRPC_LIMITS.prefaceTimeout,
    "streams of all gRPC connections": GRPC_LIMITS.maxStreams,
    "what follows the message": MAX_SURPLUS,
    "calls at once on a gRPC connection": GRPC_LIMITS.maxStreamsPerConnection,
    "reply to the ping": GRPC_LIMITS.keepaliveReply,
    "open health watches": MAX_WATCHES,
    "open reflection streams": MAX_REFLECTIONS,
    "questions to reflection": QUESTIONS.burst,
    "silence in both directions": HTTP_LIMITS.connectionTimeout,
  };

  it("the constants in docs/operations.md are those of the code", () => {
    const rows = tableWith("limit", "value", "beyond it, the log has");
    const names = Object.keys(CONSTANTS);
    const found = rows.map(([limit = "", value = ""]) => [
      names.find((name) => limit.startsWith(name)) ?? limit,
      limitValue(value),
    ]);
    expect(found).toEqual(Object.entries(CONSTANTS));
  });

  it("docs/api.md has the defaults of the settings that callers run into", () => {
    const { maxCall, maxCalls, maxCallsPerProvider } = config;
    const seconds = `${maxCall / 1000} s`;
    for (const text of [
      `the provider has ${maxCallsPerProvider} calls in flight`,
      `the service has ${maxCalls.toLocaleString("en-US")} calls in flight`,
      `its deadline (${seconds}, or the client's own)`,
      `A call takes ${seconds} at most`,
    ]) {
      expect(page("docs/api.md")).toContain(text);
    }
  });

  it("a call never lasts longer than HTTP waits for its response", () => {
    const { connectionTimeout, requestTimeout, responseTimeout } = HTTP_LIMITS;
    const set = (ms: number) =>
      readConfig({ DATABASE_URL: "mysql://u:p@h/d", MAX_CALL_MS: `${ms}` });
    expect(() => set(Math.min(connectionTimeout, responseTimeout))).toThrow(/^MAX_CALL_MS/);
    expect(GRPC_LIMITS).toMatchObject({ requestTimeout, responseTimeout });
  });
});

describe("metrics", () => {
  /** A metric as in the table: `name{label,…}`. */
  function named([name, { samples }]: [string, { samples: { labels: object }[] }]): string {
    const labels = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== "le");
    return labels.length === 0 ? name : `${name}{${labels.sort().join(",")}}`;
  }

  it("docs/operations.md names all of them, with their labels, and no other", async () => {
    const isOwn = (name: string) => !/^(nodejs|process)_/.test(name);
    const shown = tableWith("subject", "metrics").flatMap(([, cell = ""]) => codeIn(cell));
    const documented = shown.filter((name) => /^(rpc|http|db|revenue)_/.test(name));
    const { service, rollup } = await metricTexts();
    const families = [...parseExposition(service), ...parseExposition(rollup)];
    const real = families.map(named).filter(isOwn);
    expect(new Set(documented)).toEqual(new Set(real));
  });
});

describe("settings", () => {
  it(".env.example has each variable once, is valid, and has the defaults", () => {
    const text = environmentExample();
    const names = [...Object.values(VARIABLES), ...ROLLUP_FLAGS].map(({ name }) => name);
    expect(text.match(/^\w+(?==)/gm)).toEqual(names);
    const example = parseEnv(text);
    const { DATABASE_URL } = example;
    expect(readConfig(example)).toEqual(readConfig({ DATABASE_URL }));
  });
});

describe("commands", () => {
  /** `npm start` and `npm test` are scripts too. */
  const scriptOf = (command: string) => command.match(/\bnpm (?:run )?([\w-]+)/)?.[1] ?? "";
  const listed = tableWith("command", "does").flatMap(([command = ""]) =>
    codeIn(command).map(scriptOf),
  );

  it("the README lists the scripts, and no other", () => {
    const { scripts } = manifest;
    expect(listed.filter((name) => !(name in scripts))).toEqual([]);
    const known = [...listed, ...commands.map(({ text }) => scriptOf(text)), "version"];
    const isHook = (name: string) =>
      /^(pre|post)/.test(name) && name.replace(/^p(re|ost)/, "") in scripts;
    expect(Object.keys(scripts).filter((name) => !known.includes(name) && !isHook(name))).toEqual(
      [],
    );
  });

  it("a script that may run on an old Node starts with plain JavaScript", () => {
    for (const name of ["demo", "test", "check"]) {
      const first = manifest.scripts[`pre${name}`] ?? manifest.scripts[name];
      expect(first).toMatch(/^node dev\/install\.js\b/);
    }
  });
});

it("docs/api.md knows every status and method of payouts that the demo has", () => {
  const section = /### Payouts\n([\s\S]*?)\n### /.exec(page("docs/api.md"))?.[1] ?? "";
  const statuses = tableWith("status", "meaning").map(([status = ""]) => codeIn(status)[0]);
  expect(statuses).toEqual(["Completed", "Pending", "Failed"]);
  const { payouts } = createLedger(Date.parse("2026-11-20T12:00:00Z"));
  expect(payouts.length).toBeGreaterThan(0);
  for (const { method, status } of payouts) {
    expect(codeIn(section)).toContain(method);
    expect(statuses).toContain(status);
  }
});

it("CONTRIBUTING.md has a reason for each dependency, and names no other package", () => {
  const rows = tableWith("package", "why");
  const documented = rows.flatMap(([packages = ""]) => {
    const [first = "", ...others] = codeIn(packages);
    // `-node` after `@connectrpc/connect` is `@connectrpc/connect-node`.
    return [first, ...others.map((name) => (name.startsWith("-") ? first + name : name))];
  });
  expect(documented.sort()).toEqual(Object.keys(manifest.dependencies).sort());
  expect(rows.filter(([, why]) => !why)).toEqual([]);
});
