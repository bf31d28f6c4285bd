/** What a setting is: a variable of the environment, its default and its meaning. */

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One setting. */
export interface Variable {
  readonly name: string;
  /** The text that is parsed if the variable is unset or empty. */
  readonly fallback: string;
  /** A value for `.env.example`, where the default is none that works. */
  readonly example?: string;
  /** Throws `ConfigError`. */
  readonly parse: (text: string, name: string, environment: Environment) => unknown;
  /** What it means, in a line of Markdown. */
  readonly description: string;
}
