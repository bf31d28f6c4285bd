/**
 * SIGTERM under load: each request receives its complete answer, or finds the port closed before
 * anything of it was sent. Any other end is a lost request: a reset, a connection that closes
 * without an answer, an error that the service did not send.
 */
import { expect, it, onTestFinished } from "vitest";
import { until } from "../../support/poll.ts";
import { createFixture } from "../../support/service/fixture.ts";
import { grpcLoadClient, restLoadClient, startLoad } from "../../support/service/load.ts";
import { smallLedger } from "../../support/small-ledger.ts";

it("no request is lost over REST or gRPC", async () => {
  const fixture = await createFixture(smallLedger);
  onTestFinished(() => fixture.dispose());
  const { key, service } = fixture;
  const load = startLoad([
    ...Array.from({ length: 8 }, () => restLoadClient(service.http, key)),
    ...Array.from({ length: 8 }, () => grpcLoadClient(service.grpc, key)),
  ]);
  await until(20_000, () => load.answered() >= 300);
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  await load.stop();
  const unexpected = load.results.filter(
    ({ result }) => result.kind === "lost" || (result.kind === "answered" && !isOk(result.answer)),
  );
  expect(unexpected).toEqual([]);
});

const isOk = (answer: string) => /^(200 |OK$)/.test(answer);
