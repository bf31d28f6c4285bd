/** nginx and HAProxy as shipped, in the real programs, in front of two instances, and callers through them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { expect } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { methodOf, requestMessage } from "../../support/clients/client.ts";
import { callGrpc } from "../../support/clients/grpc-client.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createAuthority } from "../../support/tls/certificates.ts";
import { rootFile } from "../markdown.ts";
import { type DebianProgram, findDebianProgram } from "./debian-program.ts";

/** The proxies. */
export const PROXIES = ["nginx", "haproxy"] as const;
/** The name of a proxy. */
export type ProxyName = (typeof PROXIES)[number];

const FILES = { nginx: "deploy/nginx/revenue.conf", haproxy: "deploy/haproxy/revenue.cfg" };

/** The ports of an instance behind a proxy, as variables of the service. */
export type InstancePorts = Readonly<Record<"HTTP_PORT" | "GRPC_PORT" | "ADMIN_PORT", string>>;

/** Free ports for an instance. */
export async function instancePorts(): Promise<InstancePorts> {
  const port = async () => `${await freePort()}`;
  return { HTTP_PORT: await port(), GRPC_PORT: await port(), ADMIN_PORT: await port() };
}

/** A proxy that runs. */
export interface RunningProxy {
  readonly name: ProxyName;
  /** The port that stands for 443. */
  readonly http: number;
  /** The port that stands for 8443. */
  readonly grpc: number;
  /** The lines of its log so far, one for each request. */
  log(): string;
}

/** A response through a proxy. */
export interface ProxyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Makes one GET. Rejects if there is no complete response. */
type Get = (
  proxy: RunningProxy,
  path: string,
  headers?: Readonly<Record<string, string>>,
  agent?: HttpsAgent,
) => Promise<ProxyResponse>;

/** Makes a call with a request id. Resolves to what was lost; undefined if nothing was. */
export type Call = (requestId: string) => Promise<string | undefined>;

/** Starts proxies, and ends them. */
export type ProxyFixture = Awaited<ReturnType<typeof createProxyFixture>>;

/** Finds the programs, which may have to be downloaded. */
export function findProxies(): Readonly<Record<ProxyName, DebianProgram>> {
  return {
    nginx: findDebianProgram("nginx", "usr/sbin/nginx"),
    haproxy: findDebianProgram("haproxy", "usr/sbin/haproxy"),
  };
}

/** Creates a folder with certificates, in which proxies run. */
export async function createProxyFixture() {
  const folder = mkdtempSync(join(tmpdir(), "revenue-proxies-"));
  const file = (name: string) => join(folder, name);
  const authority = await createAuthority();
  const [ca, pair] = [authority.cert, await authority.issue()];
  writeFileSync(file("tls.crt"), pair.cert);
  writeFileSync(file("tls.key"), pair.key);
  writeFileSync(file("tls.pem"), `${pair.cert}\n${pair.key}`);
  const running: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = [];

  const get: Get = ({ http }, path, headers = {}, agent) => {
    const { promise, resolve, reject } = Promise.withResolvers<ProxyResponse>();
    const url = `https://localhost:${http}${path}`;
    httpsRequest(url, { ca, headers, ...(agent && { agent }) }, (response) => {
      const { statusCode = 0, headers: received } = response;
      buffer(response).then(() => resolve({ status: statusCode, headers: received }), reject);
    })
      .once("error", reject)
      .end();
    return promise;
  };

  /**
   * Starts a proxy as Debian does, in the foreground, and waits until it answers.
   *
   * @param change what of the shipped file is otherwise
   */
  async function start(
    name: ProxyName,
    instances: readonly InstancePorts[],
    change = (text: string) => text,
  ): Promise<RunningProxy> {
    const [http, grpc] = [await freePort(), await freePort()];
    const text = change(placed(name, { folder, http, grpc, instances }));
    const { path, env } = findProxies()[name];
    const args = name === "nginx" ? nginxArguments(folder, text) : haproxyArguments(folder, text);
    const child = spawn(path, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.push({ child, ended: once(child, "exit") });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => (output += chunk));
    }
    const log = () => {
      if (name === "haproxy") return output;
      return existsSync(file("revenue.log")) ? readFileSync(file("revenue.log"), "utf8") : "";
    };
    const proxy = { name, http, grpc, log };
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
      return get(proxy, "/openapi.json").then(
        ({ status }) => status === 200,
        () => false,
      );
    });
    return proxy;
  }

  return {
    folder,
    authority,
    ca,
    get,
    start,
    callers: (proxy: RunningProxy, key: string) => callers(proxy, { ca, key, get }),
    async dispose(): Promise<void> {
      for (const { child, ended } of running) {
        child.kill("SIGTERM");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where a proxy is to run. */
interface Place extends Pick<RunningProxy, "http" | "grpc"> {
  readonly folder: string;
  readonly instances: readonly InstancePorts[];
}

/** The shipped file with addresses and paths of a test. Each of them is in it. */
function placed(name: ProxyName, { folder, http, grpc, instances }: Place): string {
  const changes: [string | RegExp, string][] = [
    ["/etc/revenue/", `${folder}/`],
    [/(?<=(listen |bind :))443\b/, `${http}`],
    [/(?<=(listen |bind :))8443\b/, `${grpc}`],
    ...instances.flatMap(({ HTTP_PORT, GRPC_PORT }, index): [string, string][] => [
      [`127.0.0.1:808${index + 1}`, `127.0.0.1:${HTTP_PORT}`],
      [`127.0.0.1:5005${index + 1}`, `127.0.0.1:${GRPC_PORT}`],
    ]),
    ...(name === "nginx" ? [] : instances).map(({ ADMIN_PORT }, index): [RegExp, string] => [
      new RegExp(`(?<=check port )946${index + 1}\\b`, "g"),
      `${ADMIN_PORT}`,
    ]),
  ];
  if (name === "nginx") changes.push(["/var/log/nginx/", `${folder}/`]);
  return changes.reduce((text, [from, to]) => {
    expect(text).toMatch(from);
    return typeof from === "string" ? text.replaceAll(from, to) : text.replace(from, to);
  }, rootFile(FILES[name]));
}

function nginxArguments(folder: string, text: string): string[] {
  const file = (name: string) => join(folder, name);
  writeFileSync(file("revenue.conf"), text);
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

function haproxyArguments(folder: string, text: string): string[] {
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, `global\n  log stdout format raw local0\n${text}`);
  return ["-db", "-f", file];
}

/** How callers reach a proxy. */
interface Access {
  readonly ca: string;
  readonly key: string;
  readonly get: Get;
}

/** Makes GetOverview over each protocol, each on a connection of its own. */
function callers(proxy: RunningProxy, { ca, key, get }: Access): Readonly<Record<string, Call>> {
  const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
  const client = new Client(`localhost:${proxy.grpc}`, credentials.createSsl(Buffer.from(ca)), {
    "grpc.use_local_subchannel_pool": 1,
  });
  const options = {
    baseUrl: `https://localhost:${proxy.http}`,
    httpVersion: "2",
    nodeOptions: { ca },
  } as const;
  const headers = (id: string) => [...withKey(key), ["x-request-id", id]] as [string, string][];
  const call =
    (transport: Transport): Call =>
    (id) =>
      transport
        .unary(methodOf("GetOverview"), undefined, undefined, headers(id), OVERVIEW)
        .then(() => undefined, String);
  return {
    rest: (id) =>
      get(proxy, paths.GetOverview, Object.fromEntries(headers(id)), agent).then(
        ({ status }) => (status === 200 ? undefined : `${status}`),
        String,
      ),
    // POST.
    connect: call(createConnectTransport(options)),
    grpcWeb: call(createGrpcWebTransport(options)),
    grpc: async (id) => {
      const outcome = await callGrpc(client, { method: "GetOverview", headers: headers(id) });
      return "response" in outcome ? undefined : `${outcome.code}: ${outcome.message}`;
    },
  };
}

const OVERVIEW = requestMessage({ method: "GetOverview" });
