/** A now, the ledgers of some providers around it, and periods to ask for. */
import fc from "fast-check";
import { anyLedger } from "./any-ledger.ts";
import { anyNow, landmarks } from "./instants.ts";
import { anyPeriod } from "./periods.ts";

/** Two providers whose ids no double can tell from their neighbours'. */
export const PROVIDERS = [2n ** 53n + 1n, 2n ** 64n - 1n] as const;

export const anySituation = anyNow.chain((now) =>
  fc.array(anyPeriod(now), { minLength: 4, maxLength: 4 }).chain((periods) => {
    const ends = periods.flatMap(({ means }) => [means.start, means.end]);
    const marks = [...landmarks(now), ...ends, ...ends];
    return fc.record({
      now: fc.constant(now),
      periods: fc.constant(periods),
      ledgers: fc.tuple(...PROVIDERS.map((provider) => anyLedger(provider, marks))),
    });
  }),
);
