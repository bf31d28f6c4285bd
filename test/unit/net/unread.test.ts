import { expect, it, onTestFinished, vi } from "vitest";
import { limitUnread } from "../../../src/net/unread.ts";

/** Connections with unread bytes. Those that were closed are no longer in them. */
function connections(...sizes: readonly number[]) {
  const open = new Set(sizes.map((bytes) => ({ bytes, close: () => {} })));
  for (const connection of open) connection.close = () => open.delete(connection);
  return { source: () => open, sizes: () => [...open].map(({ bytes }) => bytes) };
}

it("closes the connections with the most unread bytes, of all ports, until the sum is within the limit", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const events: string[] = [];
  const [http, grpc] = [connections(10, 60, 20), connections(30, 50)];
  limitUnread({
    sources: [http.source, grpc.source],
    maxUnreadBytes: 100,
    report: (event) => events.push(event),
  });
  vi.advanceTimersByTime(1_000);
  expect(events).toEqual(["tooManyUnreadBytes", "tooManyUnreadBytes"]);
  expect([http.sizes(), grpc.sizes()]).toEqual([[10, 20], [30]]);
});
