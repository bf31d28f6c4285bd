/** A service process under attack, and the check that an attack did it no harm. */
import { setTimeout as sleep } from "node:timers/promises";
import { hashKey, parseKey } from "../../../../src/auth/api-key.ts";
import { callGrpc, grpcClient } from "../../../support/clients/grpc-client.ts";
import { rawHttp } from "../../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { withKey } from "../../../support/request.ts";
import { type ServiceProcess, startService } from "../../../support/service/service-process.ts";
import { smallLedger } from "../../../support/small-ledger.ts";

/** A key of provider 1. It is the same in every run, so that the bytes of an exchange are too. */
export const KEY = "rvk_NKu0CLHut48hhPlB7dZbMXCf3bpJq71lz2gICEcFE5L0kEJLV";
/** A well-formed key that is not in the database. */
export const UNKNOWN_KEY = "rvk_qA7uCwG2rQ39Jb1UdAHmCirUrTv8KBhr94Q11eLYB261ljDqh";

/** How long a good call may take after an attack, in milliseconds. The machine may be busy. */
const PATIENCE = 5_000;
/** Lines of the log that are no fault of the service. */
const HARMLESS = /^\{"level":"(info|warn)"/;

export interface Target {
  readonly database: TestDatabase;
  /** The process; another one after `revive` replaced it. */
  service(): ServiceProcess;
  /** The port of HTTP or of gRPC. */
  port(protocol: "http" | "grpc"): number;
  /**
   * Fails unless the process lives, wrote nothing but harmless lines, and answers good calls.
   *
   * @param attack what was done, for the message
   */
  expectUnharmed(attack: string): Promise<void>;
  /** Replaces the process by a new one. */
  restart(): Promise<void>;
  /** Replaces a process that was harmed, so that one fault fails one test. */
  revive(): Promise<void>;
  /** Ends the service and drops the database. */
  dispose(): Promise<void>;
}

/**
 * Starts a service on a database of its own.
 *
 * @param fill puts more data in than the small ledger
 */
export async function setTarget(
  environment: Readonly<Record<string, string>> = {},
  fill: (database: TestDatabase) => Promise<unknown> = async () => {},
): Promise<Target> {
  const database = await createDatabase();
  await smallLedger(database);
  await insertKey(database);
  await fill(database);
  let service = await startService(database.url, environment);
  let harmed = false;
  const restart = async () => {
    await service.stop();
    service = await startService(database.url, environment);
    harmed = false;
  };
  return {
    database,
    service: () => service,
    port: (protocol) => Number(new URL(`http://${addressOf(service, protocol)}`).port),
    async expectUnharmed(attack) {
      const [ending, answers] = await Promise.all([endingOf(service), goodCalls(service)]);
      const faults = service.output().split("\n").filter(isFault);
      harmed = ending !== "alive" || faults.length > 0 || answers !== "200, OK";
      if (harmed) throw new Error([`after ${attack}:`, ending, answers, ...faults].join("\n"));
    },
    restart,
    async revive() {
      if (harmed) await restart();
    },
    async dispose() {
      await service.stop();
      await database.drop();
    },
  };
}

async function insertKey({ knex }: TestDatabase): Promise<void> {
  const key = parseKey(KEY);
  if (key === undefined) throw new Error("the key of the tests is malformed");
  await knex("api_keys").insert({ provider_id: 1, name: "test", key_hash: hashKey(key) });
}

function addressOf(service: ServiceProcess, protocol: "http" | "grpc"): string {
  return protocol === "http" ? new URL(service.http).host : service.grpc;
}

function isFault(line: string): boolean {
  return line !== "" && !HARMLESS.test(line);
}

/** How the process ended, or "alive". It gets a moment to fail after the last byte sent to it. */
function endingOf(service: ServiceProcess): Promise<number | string> {
  return Promise.race([service.ended, sleep(20, "alive")]);
}

/** Calls the service on new connections. Resolves to "200, OK" where both answers are good. */
async function goodCalls(service: ServiceProcess): Promise<string> {
  const client = grpcClient(service.grpc);
  const headers = withKey(KEY);
  const signal = AbortSignal.timeout(PATIENCE);
  const [rest, grpc] = await Promise.all([
    rawHttp(service.http, { target: "/api/provider/revenue", headers, signal }).then(
      ({ status }) => `${status}`,
      (error: Error) => error.message,
    ),
    callGrpc(client, { method: "GetOverview", headers, timeout: PATIENCE }),
  ]);
  client.close();
  return `${rest}, ${"answer" in grpc ? "OK" : `${grpc.code}: ${grpc.message}`}`;
}
