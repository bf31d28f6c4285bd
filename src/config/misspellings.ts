/**
 * Names that are almost those of settings, and so probably misspelled. A warning at start names
 * them. It stops nothing: the environment may be that of several programs.
 */
import { distance } from "fastest-levenshtein";
import { VARIABLES } from "./variables.ts";

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
