/** To which trace a shared statement belongs. */
import { setTimeout as sleep } from "node:timers/promises";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBatching } from "../../../../src/db/scheduling/batching.ts";

/** A caller that never leaves. */
const staying = () => ({ signal: new AbortController().signal, deadline: Infinity });

describe("in traces", () => {
  const provider = new TracerProvider();
  const tracer = provider.getTracer("test");
  const manager = new AsyncLocalStorageContextManager();
  beforeAll(() => context.setGlobalContextManager(manager.enable()));
  afterAll(() => context.disable());

  it("a shared statement is in that of the first of its reads", async () => {
    const active: unknown[] = [];
    const read = createBatching<string, string>({
      sizes: [3],
      keyOf: (item) => item,
      alone: (item) => sleep(10, item),
      async together(items) {
        active.push(trace.getActiveSpan());
        return [...items];
      },
    });
    const spans = ["c", "d", "e"].map((name) => tracer.startSpan(name));
    const reads = [
      ...["a", "b"].map((item) => read(item, staying())),
      ...spans.map((span) =>
        context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
          read(span.spanContext().spanId, staying()),
        ),
      ),
    ];
    await Promise.all(reads);
    expect(active).toEqual([spans[0]]);
  });

  it("a read alone is in its own", async () => {
    const active: unknown[] = [];
    const read = createBatching<string, string>({
      sizes: [],
      keyOf: (item) => item,
      async alone(item) {
        active.push(trace.getActiveSpan());
        return item;
      },
      together: async () => [],
    });
    const spans = ["a", "b", "c"].map((name) => tracer.startSpan(name));
    await Promise.all(
      spans.map((span) =>
        context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
          read(span.spanContext().spanId, staying()),
        ),
      ),
    );
    expect(active).toEqual(spans);
  });
});
