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

/** The mistakes for which a reader throws a `ConfigError`; none if it returns. */
export function mistakesOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes;
  }
}

/** The mistake of a variable that names a file that cannot be read. */
export function unreadable(name: string, path: string, error: unknown): string {
  return `${name} names ${path}, which cannot be read (${codeOf(error)})`;
}

/** The code of an error of Node or OpenSSL. Their messages may hold more. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

/** The error for a variable whose value is not what is expected. */
export function mistake(name: string, text: string, expected: string): ConfigError {
  return new ConfigError([`${name} is "${text}"; expected ${expected}`]);
}
