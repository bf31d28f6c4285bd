/**
 * What is probably not meant in a valid environment: names that are almost those of settings, and settings of
 * which one keeps another from having an effect. It is told at start, and stops nothing: the environment may
 * be that of several programs.
 */
import { distance } from "fastest-levenshtein";
import { type Config, VARIABLES } from "../config.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A name that is close to one of ours, and means something to Node's TLS. */
const OTHERS = ["SSL_CERT_FILE"];
/** Names that are shorter are close to too many words. */
const SHORTEST = 5;
/** So many characters of a name may have one slip; two that are swapped are two. */
const CHARACTERS_PER_SLIP = 4.5;

/**
 * Variables that are set and almost have the name of a setting, a line for each.
 *
 * @param more names of settings besides those of the service
 */
export function misspelled(environment: Environment, more: readonly string[] = []): string[] {
  const known = [...Object.values(VARIABLES).map(({ name }) => name), ...more];
  const candidates = known.filter(({ length }) => length >= SHORTEST);
  return Object.keys(environment)
    .filter((name) => !known.includes(name) && !OTHERS.includes(name))
    .flatMap((name) => {
      const meant = candidates.find((candidate) => isAlmost(name.toUpperCase(), candidate));
      return meant ? [`${name} is set, which is no setting: did you mean ${meant}?`] : [];
    });
}

/** Whether a name is the other one with a few slips, or without its unit. */
function isAlmost(name: string, other: string): boolean {
  if (`${name}_MS` === other || `${name}_SECONDS` === other) return true;
  return distance(name, other) <= Math.max(1, Math.floor(other.length / CHARACTERS_PER_SLIP));
}

/** The time between two heartbeats, in ms, and what a delay adds. */
const HEARTBEATS = 2_000;

/** Settings of which one keeps another from having its effect, a line for each. */
export function conflicts(config: Config): string[] {
  const { maxCalls, maxCallsPerProvider, maxConnections, maxConnectionsPerAddress } = config;
  const { rateLimit, rateLimitBurst, maxCall, grace, readMaxLag } = config;
  const doubts: readonly [boolean, string][] = [
    [
      maxCallsPerProvider > maxCalls,
      `MAX_CALLS_PER_PROVIDER (${maxCallsPerProvider}) is above MAX_CALLS (${maxCalls}), which is reached first`,
    ],
    [
      maxConnectionsPerAddress > maxConnections,
      `MAX_CONNECTIONS_PER_ADDRESS (${maxConnectionsPerAddress}) is above MAX_CONNECTIONS (${maxConnections}), which is reached first`,
    ],
    [
      rateLimitBurst > 0 && rateLimit === 0,
      `RATE_LIMIT_BURST (${rateLimitBurst}) has no effect, because RATE_LIMIT is 0: there is no limit`,
    ],
    [
      grace < maxCall,
      `STOP_GRACE_MS (${grace}) is below MAX_CALL_MS (${maxCall}): a stop cuts long calls off`,
    ],
    [
      readMaxLag > 0 && readMaxLag < HEARTBEATS,
      `DATABASE_READ_MAX_LAG_MS (${readMaxLag}) is below ${HEARTBEATS}: the heartbeat is written once a second, and calls fail if it is late`,
    ],
  ];
  return doubts.filter(([doubtful]) => doubtful).map(([, line]) => line);
}
