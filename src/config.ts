/**
 * The configuration of the service and of its commands, from environment variables. It is parsed
 * once, at start, and all mistakes are reported together. No message repeats the value of
 * `DATABASE_URL`, which holds a password.
 */
import { tlsMistakes } from "./config/certificates.ts";
import { ConfigError, mistakesOf } from "./config/mistake.ts";
import type { Environment } from "./config/variable.ts";
import { VARIABLES } from "./config/variables.ts";

export { tlsFiles } from "./config/certificates.ts";
export type { DatabaseTarget, DatabaseUrl } from "./config/database-url.ts";
export { parseDatabaseUrl, readDatabaseUrl } from "./config/database-url.ts";
export { ConfigError } from "./config/mistake.ts";
export { VARIABLES } from "./config/variables.ts";

/** The configuration of the service. */
export type Config = {
  readonly [Field in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Field]["parse"]>;
};

/**
 * Reads the configuration of the service. An empty variable counts as unset.
 *
 * @throws ConfigError with all mistakes
 */
export function readConfig(environment: Environment): Config {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [field, { name, fallback, parse }] of Object.entries(VARIABLES)) {
    const read = () => {
      values[field] = parse(environment[name] || fallback, name, environment);
    };
    mistakes.push(...mistakesOf(read));
  }
  const config = values as Config;
  mistakes.push(...tlsMistakes(config));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}
