/** Settings that are valid, and do nothing beside the others. They stop nothing. */
import type { Environment } from "./variable.ts";

/** What is looked at. */
interface Settings {
  readonly maxCalls: number;
  readonly maxCallsPerProvider: number;
  readonly rateLimit: number;
  readonly rateLimitBurst: number;
}

/** A line for each setting without an effect, which somebody may rely on. */
export function ineffective(settings: Settings, environment: Environment): string[] {
  const { maxCalls, maxCallsPerProvider, rateLimit, rateLimitBurst } = settings;
  const lines: string[] = [];
  if (maxCallsPerProvider > maxCalls) {
    lines.push(
      `MAX_CALLS_PER_PROVIDER is ${maxCallsPerProvider}, above MAX_CALLS, ${maxCalls}: it limits nothing; expected at most MAX_CALLS`,
    );
  }
  if (rateLimitBurst > 0 && rateLimit === 0) {
    lines.push(
      `RATE_LIMIT_BURST is ${rateLimitBurst}, and RATE_LIMIT is 0: there is no limit; expected a RATE_LIMIT`,
    );
  }
  // Some platforms set it, and expect a program to listen there.
  if (environment.PORT) lines.push("PORT is set, which is no setting: HTTP_PORT and GRPC_PORT are");
  return lines;
}
