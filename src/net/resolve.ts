/** Names of hosts in settings. */
import { lookup } from "node:dns/promises";

/**
 * Looks the hosts of settings up.
 *
 * @param hosts by the names of their settings; undefined where there is none
 * @returns a line for each host that is not found
 */
export async function unresolved(
  hosts: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const lines = Object.entries(hosts).map(async ([name, host]) => {
    if (host === undefined) return [];
    return lookup(host).then(
      () => [],
      ({ code }) => [`${name} names the host ${host}, which does not resolve (${code})`],
    );
  });
  return (await Promise.all(lines)).flat();
}
