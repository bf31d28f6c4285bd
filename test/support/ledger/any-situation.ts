/** Random situations: the time of a request, the ledgers of two providers around it, and periods. */
import fc from "fast-check";
import { anyLedger } from "./any-ledger.ts";
import { anyNow, landmarks } from "./instants.ts";
import { anyPeriod } from "./periods.ts";

/** Ids that a double cannot represent exactly. */
export const PROVIDERS = [2n ** 53n + 1n, 2n ** 64n - 1n] as const;

/** Four periods, and ledgers whose instants lie near the edges of these and of the calendar. */
export const anySituation = anyNow.chain((now) =>
  fc.array(anyPeriod(now), { minLength: 4, maxLength: 4 }).chain((periods) => {
    const ends = periods.flatMap(({ resolved }) => [resolved.start, resolved.end]);
    const marks = [...landmarks(now), ...ends, ...ends];
    return fc.record({
      now: fc.constant(now),
      periods: fc.constant(periods),
      ledgers: fc.tuple(...PROVIDERS.map((provider) => anyLedger(provider, marks))),
    });
  }),
);
