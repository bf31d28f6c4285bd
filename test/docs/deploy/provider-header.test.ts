/**
 * The shipped files of nginx and HAProxy, in the real programs: `x-provider-id` does not pass where strangers
 * come from, in whatever form it is sent, and passes on the platform's own port. Behind them is a server that
 * answers with the headers that it gets.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type OutgoingHttpHeaders,
} from "node:http2";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { until } from "../../support/poll.ts";
import { createAuthority } from "../../support/tls/certificates.ts";
import { rootFile } from "../markdown.ts";
import { type DebianProgram, findDebianProgram } from "./debian-program.ts";

const PROXIES = ["nginx", "haproxy"] as const;
type Proxy = (typeof PROXIES)[number];

const folder = mkdtempSync(join(tmpdir(), "revenue-provider-header-"));
const file = (name: string) => join(folder, name);

let ca: string;
let programs: Readonly<Record<Proxy, DebianProgram>>;
/** What answers with the headers it gets, as lines: HTTP/1.1, and HTTP/2 without TLS. */
let http: Server;
let grpc: ReturnType<typeof createHttp2Server>;
/** The ports of each proxy: as 443 and as 8443. */
const ports = {} as Record<Proxy, readonly [http: number, grpc: number]>;
const running: ChildProcess[] = [];

beforeAll(() => {
  programs = {
    nginx: findDebianProgram("nginx", "usr/sbin/nginx"),
    haproxy: findDebianProgram("haproxy", "usr/sbin/haproxy"),
  };
}); // they may have to be downloaded

beforeAll(async () => {
  const authority = await createAuthority();
  const pair = await authority.issue();
  ca = authority.cert;
  writeFileSync(file("tls.crt"), pair.cert);
  writeFileSync(file("tls.key"), pair.key);
  writeFileSync(file("tls.pem"), `${pair.cert}\n${pair.key}`);
  http = createServer((request, response) => response.end(linesOf(request.rawHeaders)));
  http.listen(0, "127.0.0.1");
  grpc = createHttp2Server((request, response) => response.end(linesOf(request.rawHeaders)));
  grpc.listen(0, "127.0.0.1");
  await Promise.all([once(http, "listening"), once(grpc, "listening")]);
  for (const proxy of PROXIES) await startProxy(proxy);
});

afterAll(async () => {
  for (const child of running) {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
  http?.closeAllConnections();
  http?.close();
  grpc?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A line for each header. */
const linesOf = (raw: readonly string[]) =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${raw[at + 1]}`] : [])).join("\n");

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

/** The shipped file, with the addresses and paths of this test, and without HAProxy's checks of the admin port. */
function placed(path: string, proxy: Proxy): string {
  const [httpPort, grpcPort] = ports[proxy];
  return rootFile(path)
    .replaceAll("/etc/revenue/", `${folder}/`)
    .replace(/(?<=(listen |bind :))443\b/, `${httpPort}`)
    .replace(/(?<=(listen |bind :))8443\b/, `${grpcPort}`)
    .replaceAll(/127\.0\.0\.1:808[12]/g, `127.0.0.1:${portOf(http)}`)
    .replaceAll(/127\.0\.0\.1:5005[12]/g, `127.0.0.1:${portOf(grpc)}`)
    .replaceAll(/ check port \d+| track \S+/g, "");
}

async function startProxy(proxy: Proxy): Promise<void> {
  ports[proxy] = [await freePort(), await freePort()];
  const { path, env } = programs[proxy];
  const child = spawn(path, proxy === "nginx" ? nginxArguments() : haproxyArguments(), {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${proxy} ended:\n${output}`);
    return isListening(ports[proxy][0]);
  });
}

function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).then((listens) => {
    socket.destroy();
    return listens as boolean;
  });
}

function nginxArguments(): string[] {
  writeFileSync(file("revenue.conf"), placed("deploy/nginx/revenue.conf", "nginx"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${file(name)};`,
  );
  const lines = [
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    `daemon off; pid ${file("nginx.pid")}; error_log stderr;`,
    `events {} http { access_log off; ${temporary.join(" ")} include ${file("revenue.conf")}; }`,
  ];
  writeFileSync(file("nginx.conf"), `${lines.join("\n")}\n`);
  return ["-e", "stderr", "-c", file("nginx.conf")];
}

function haproxyArguments(): string[] {
  writeFileSync(file("haproxy.cfg"), `global\n${placed("deploy/haproxy/revenue.cfg", "haproxy")}`);
  return ["-db", "-f", file("haproxy.cfg")];
}

/** Sends these lines as headers over HTTP/1.1 and TLS. Resolves to the whole response. */
async function sendLines(port: number, lines: readonly string[]): Promise<string> {
  const socket = connectTls({ host: "127.0.0.1", port, ca, servername: "localhost" });
  socket.on("error", () => {});
  const close = lines.some((line) => line.startsWith("Connection")) ? [] : ["Connection: close"];
  const request = ["GET / HTTP/1.1", "Host: localhost", ...close, ...lines, "", ""];
  socket.write(request.join("\r\n"));
  return (await buffer(socket).catch(() => Buffer.alloc(0))).toString("latin1");
}

/** Sends headers over HTTP/2. Resolves to the body of the response. */
async function sendHttp2(port: number, headers: OutgoingHttpHeaders): Promise<string> {
  const session = connectHttp2(`https://localhost:${port}`, { ca, lookup: toLoopback });
  const stream = session.request({ ":path": "/", ...headers });
  stream.end();
  let status: number | undefined;
  stream.once("response", (response) => {
    status = response[":status"];
  });
  const body = (await buffer(stream)).toString("latin1");
  session.destroy();
  return `${status} ${body}`;
}

const toLoopback: LookupFunction = (_host, _options, done) =>
  done(null, [{ address: "127.0.0.1", family: 4 }]);

/** Whether a server behind sees what Node reads as the header. */
const arrives = (text: string) => /^x-provider-id:/im.test(text);

/** Forms in which a header may slip past who takes it out. */
const FORMS: readonly (readonly string[])[] = [
  ["X-Provider-Id: 7"],
  ["x-provider-id:7"],
  ["X-PROVIDER-ID:   7  "],
  ["X-Provider-Id: 7", "X-Provider-Id: 8"],
  ["x-provider-id:"],
  ["X-Provider-Id : 7"],
  [" X-Provider-Id: 7"],
  ["A: b", " X-Provider-Id: 7"],
  ["X_Provider_Id: 7"],
  ["X-Provider-Id\t: 7"],
  ["X-Provider-Id\0: 7"],
  ["A: b\rX-Provider-Id: 7"],
  ["A: b\nX-Provider-Id: 7"],
  ["Connection: close, X-Provider-Id", "X-Provider-Id: 7"],
  ["Transfer-Encoding: chunked", "Trailer: X-Provider-Id", "", "0", "X-Provider-Id: 7"],
  ["Content-Length: 0", "Transfer-Encoding : chunked", "X-Provider-Id: 7"],
];

describe.each(PROXIES)("%s", (proxy) => {
  it("takes x-provider-id from what strangers send, in every form, over HTTP/1.1", async () => {
    expect(await sendLines(ports[proxy][0], ["X-Request-Id: r-1"])).toMatch(
      /^x-request-id: r-1$/im,
    );
    for (const lines of FORMS) {
      const response = await sendLines(ports[proxy][0], lines);
      expect(arrives(response.replaceAll("\r", "")), JSON.stringify(lines)).toBe(false);
    }
  });

  it("takes it from what strangers send over HTTP/2", async () => {
    for (const value of ["7", ["7", "8"], ""]) {
      const response = await sendHttp2(ports[proxy][0], { "x-provider-id": value, "x-other": "1" });
      expect(response).toMatch(/^200 /);
      expect(response).toContain("x-other");
      expect(arrives(response)).toBe(false);
    }
  });

  it("lets it pass on the platform's own port", async () => {
    const headers = { ":method": "POST", "content-type": "application/grpc", te: "trailers" };
    const response = await sendHttp2(ports[proxy][1], { ...headers, "x-provider-id": "7" });
    expect(response).toMatch(/^x-provider-id: 7$/m);
  });
});
