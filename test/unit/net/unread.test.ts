import { expect, it, onTestFinished } from "vitest";
import { createUnreadLimit } from "../../../src/net/unread.ts";
import { until } from "../../support/poll.ts";

/** Connections with unread bytes. Those that were closed are no longer in them. */
function connections(...sizes: readonly number[]) {
  const open = new Set(sizes.map((bytes) => ({ bytes, close: () => {} })));
  for (const connection of open) connection.close = () => open.delete(connection);
  return { source: () => open, sizes: () => [...open].map(({ bytes }) => bytes) };
}

it("closes the connections with the most unread bytes, of all ports, until the sum is within the limit", async () => {
  const events: string[] = [];
  const unread = createUnreadLimit({ maxUnreadBytes: 100, report: (event) => events.push(event) });
  onTestFinished(unread.stop);
  const [http, grpc] = [connections(10, 60, 20), connections(30, 50)];
  unread.register(http.source);
  unread.register(grpc.source);
  await until(() => events.length > 0);
  expect(events).toEqual(["tooManyUnreadBytes", "tooManyUnreadBytes"]);
  expect([http.sizes(), grpc.sizes()]).toEqual([[10, 20], [30]]);
});
