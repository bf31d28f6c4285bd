/** Mistakes in the environment. */

/** The environment is invalid. `mistakes` has one line for each mistake. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}

/** The error for a variable whose value is not what is expected. */
export function mistake(name: string, text: string, expected: string): ConfigError {
  return new ConfigError([`${name} is "${text}"; expected ${expected}`]);
}
