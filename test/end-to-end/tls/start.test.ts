/** TLS of a running service as other programs see it, and starts that fail because of it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { runService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import {
  type CertificateFiles,
  createAuthority,
  createFiles,
  type Pair,
} from "../../support/tls/certificates.ts";
import { getHttp1, grpcTlsClient } from "./clients.ts";

const run = promisify(execFile);
const installed = async (program: string) =>
  run(program, ["--version"]).then(
    () => true,
    () =>
      run(program, ["version"]).then(
        () => true,
        () => false,
      ),
  );
const [hasCurl, hasOpenssl] = [await installed("curl"), await installed("openssl")];

const [authority, clients] = await Promise.all([createAuthority(), createAuthority("clients")]);
const [pair, client] = await Promise.all([authority.issue(), clients.issue()]);

describe("with a certificate for the ports, and authorities for clients,", () => {
  let files: CertificateFiles;
  let fixture: Fixture;
  beforeAll(async () => {
    files = createFiles(pair, clients.cert);
    fixture = await createFixture(smallLedger, files.files);
    files.write({ ca: clients.cert });
  });
  afterAll(async () => {
    await fixture?.dispose();
    files?.[Symbol.dispose]();
  });

  it("the HTTP port asks for no certificate", async () => {
    expect(await getHttp1(fixture.service.http, authority.cert, fixture.key)).toBe(200);
  });

  it.each<[string, Pair | undefined, boolean, string]>([
    ["a certificate and a key", client, true, "OK"],
    ["a certificate without a key", client, false, "UNAUTHENTICATED"],
    ["a key without a certificate", undefined, true, "UNAVAILABLE"],
  ])("a gRPC client with %s", async (_, own, hasKey, expected) => {
    const grpc = grpcTlsClient(fixture.service.grpc, authority.cert, own);
    const outcome = await grpc.call(hasKey ? fixture.key : undefined);
    grpc.close();
    expect(outcome).toBe(expected);
  });

  it.runIf(hasCurl)("curl, which prefers HTTP/2", async () => {
    const authorities = createFiles(pair, authority.cert);
    const { stdout } = await run("curl", [
      ...["-sS", "--http2", "--cacert", join(authorities.folder, "ca.crt")],
      ...["-w", "%{http_version} %{http_code}", "-o", "/dev/null"],
      ...["-H", `x-api-key: ${fixture.key}`, `${fixture.service.http}/api/provider/revenue`],
    ]);
    authorities[Symbol.dispose]();
    expect(stdout).toBe("1.1 200");
  });

  it.runIf(hasOpenssl).each([
    ["-tls1_3", true],
    ["-tls1_2", true],
    ["-tls1_1", false],
  ])("openssl s_client %s", async (option, accepted) => {
    const { host } = new URL(fixture.service.http);
    const args = [
      "s_client",
      "-connect",
      host,
      option,
      "-alpn",
      "http/1.1",
      "-cipher",
      "ALL:@SECLEVEL=0",
    ];
    const child = run("openssl", args);
    child.child.stdin?.end();
    const output = await child.then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout,
    );
    expect(output.includes("ALPN protocol: http/1.1")).toBe(accepted);
  });
});

it("all mistakes in the files of TLS are told with the others, and the exit code is 1", async () => {
  const expired = await authority.issue({ days: [-3, -2] });
  const files = createFiles({ cert: expired.cert, key: pair.key });
  const { ending, stdout, stderr } = await runService({
    DATABASE_URL: "mysql://user:hunter2@127.0.0.1:1/database",
    HTTP_PORT: "http",
    ...files.files,
    TLS_CLIENT_CA_FILE: join(files.folder, "missing.crt"),
  });
  files.write({ key: "" });
  const second = await runService({ DATABASE_URL: "mysql://u:p@127.0.0.1:1/d", ...files.files });
  files[Symbol.dispose]();
  expect({ ending, stdout }).toEqual({ ending: 1, stdout: "" });
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/^cannot start: HTTP_PORT /),
    `cannot start: TLS_CLIENT_CA_FILE names ${files.folder}/missing.crt, which cannot be read (ENOENT)`,
    "",
  ]);
  expect(second.stderr.split("\n")).toEqual([
    "cannot start: TLS_KEY_FILE holds no private key in PEM without a passphrase",
    expect.stringMatching(/^cannot start: TLS_CERT_FILE has expired, at /),
    "",
  ]);
});
