import { expect, it, onTestFinished } from "vitest";
import { createUnreadLimit } from "../../../src/net/unread.ts";
import { until } from "../../support/poll.ts";

/** Connections with unread bytes. Those that were closed are no longer in them. */
function connections(...sizes: readonly number[]) {
  const open = new Set(sizes.map((bytes) => ({ bytes, close: () => {} })));
  for (const connection of open) connection.close = () => open.delete(connection);
  return { source: () => open, sizes: () => [...open].map(({ bytes }) => bytes) };
}

function limit(maxUnreadBytes: number) {
  const events: string[] = [];
  const { register, stop } = createUnreadLimit({
    maxUnreadBytes,
    report: (event) => events.push(event),
  });
  onTestFinished(stop);
  return { register, events };
}

it("closes the connections with the most unread bytes, of all ports, until the sum is within the limit", async () => {
  const { register, events } = limit(100);
  const [http, grpc] = [connections(10, 60, 20), connections(30, 50)];
  register(http.source);
  register(grpc.source);
  await until(10_000, () => events.length > 0);
  expect(events).toEqual(["tooManyUnreadBytes", "tooManyUnreadBytes"]);
  expect([http.sizes(), grpc.sizes()]).toEqual([[10, 20], [30]]);
});
