/** An uncaught error: the service logs it, finishes the calls in flight and exits with code 1. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const PRELOAD = fileURLToPath(new URL("./throw-on-signal.ts", import.meta.url));

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
});
afterAll(() => database.drop());

it.each([
  ["a thrown error", {}, "uncaughtException"],
  ["a rejected promise", { REJECT: "1" }, "unhandledRejection"],
])(
  "%s ends the service with exit code 1, after the calls in flight",
  async (_, environment, reason) => {
    const service = await startService(database.url, {
      ...environment,
      NODE_OPTIONS: `--import ${PRELOAD}`,
    });
    const client = grpcClient(service.grpc);
    try {
      await using lock = await lockTable(database, "charges");
      const headers = withKey(key);
      const rest = rawHttp(service.http, { target: paths.GetOverview, headers });
      const grpc = callGrpc(client, { method: "GetServerBreakdown", headers });
      await lock.waitForQueries(2);
      const messages = () => service.log().map(({ msg }) => `${msg}`);
      service.signal("SIGUSR2");
      await until(10_000, () => messages().some((message) => message.startsWith("stopping")));
      service.signal("SIGUSR2"); // a second error changes nothing
      await until(10_000, () => messages().filter((msg) => msg === "uncaught error").length === 2);
      expect(messages()).not.toContain("stopped");
      await lock.release();

      expect(await rest).toMatchObject({ status: 200 });
      expect(await grpc).toHaveProperty("response");
      expect(await service.ended).toBe(1);
      const [error, stopping] = service
        .log()
        .filter(({ msg }) => /^(uncaught|stopping)/.test(`${msg}`));
      expect(error).toMatchObject({
        level: "fatal",
        type: "Error",
        message: "Lost connection",
        code: "ER_TEST",
        stack: expect.stringContaining("throw-on-signal.ts"),
      });
      expect(stopping).toMatchObject({ reason });
      expect(messages().filter((message) => message.startsWith("stopping"))).toHaveLength(1);
      expect(messages().at(-1)).toBe("stopped");
      expect(service.output()).not.toContain("secret");
    } finally {
      client.close();
      await service.stop();
    }
  },
);
