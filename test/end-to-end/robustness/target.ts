/** A service process under attack, and the check that an attack did not harm it. */

import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { hashKey, parseKey } from "../../../src/auth/api-key.ts";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { poll } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { SEAT_BELT } from "../../support/seat-belt.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import type { ServiceProcess } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** A key of provider 1. It is the same in every run, and so are the bytes of the exchanges. */
export const KEY = "rvk_NKu0CLHut48hhPlB7dZbMXCf3bpJq71lz2gICEcFE5L0kEJLV";
/** A well-formed key that is not in the database. */
export const UNKNOWN_KEY = "rvk_qA7uCwG2rQ39Jb1UdAHmCirUrTv8KBhr94Q11eLYB261ljDqh";

/** Answers to one who is to try again. */
const LATE = /^5|UNAVAILABLE|DEADLINE_EXCEEDED/;
/** Log lines that report no error of the service. */
const HARMLESS = /^$|^\{"level":"(info|warn)"/;

/** A service with a database of its own, and its health. */
export interface Target extends Fixture {
  /** The port of HTTP or of gRPC. */
  port(protocol: "http" | "grpc"): number;
  /**
   * Checks that the process runs, has logged no error and answers valid calls.
   *
   * @param attack a description for the error message
   * @throws Error if it was harmed
   */
  expectUnharmed(attack: string): Promise<void>;
}

/**
 * Starts a service. Its process ends if its heap exceeds `heap` MiB, by default what V8 takes by itself in the
 * container of 1 GiB that `deploy/` runs.
 */
export async function createTarget(heap = 512): Promise<Target> {
  const fixture = await createFixture(
    async (database) => {
      await smallLedger(database);
      const key_hash = hashKey(parseKey(KEY) ?? expectKey());
      await database.knex("api_keys").insert({ provider_id: 1, name: "test", key_hash });
    },
    { NODE_OPTIONS: `${SEAT_BELT} --max-old-space-size=${heap}` },
  );
  const { service } = fixture;
  return {
    ...fixture,
    port: (protocol) =>
      Number(new URL(protocol === "http" ? service.http : `http://${service.grpc}`).port),
    async expectUnharmed(attack) {
      // A service that has much to do may answer late: then it does not now, and is not harmed.
      const calls = await poll(async () => {
        const answers = await validCalls(service);
        return LATE.test(answers) ? undefined : answers;
      }, `answers after ${attack}`);
      const errors = service
        .output()
        .split("\n")
        .filter((line) => !HARMLESS.test(line));
      const isHarmed = errors.length > 0 || calls !== "200, OK";
      if (isHarmed) throw new Error([`after ${attack}:`, calls, ...errors].join("\n"));
    },
  };
}

function expectKey(): never {
  throw new Error("the tests' key is malformed");
}

/** Calls the service on new connections. Resolves to "200, OK" if both calls succeed. */
async function validCalls(service: ServiceProcess): Promise<string> {
  const client = grpcClient(service.grpc);
  const headers = withKey(KEY);
  const signal = AbortSignal.timeout(TIME_LIMIT);
  const [rest, grpc] = await Promise.all([
    rawHttp(service.http, { target: "/api/provider/revenue", headers, signal }).then(
      ({ status }) => `${status}`,
      (error: Error) => error.message,
    ),
    callGrpc(client, { method: "GetOverview", headers, timeout: TIME_LIMIT }),
  ]);
  client.close();
  return `${rest}, ${"response" in grpc ? "OK" : `${grpc.code}: ${grpc.message}`}`;
}
