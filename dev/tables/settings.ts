/** The settings as text, of the lists in the code: `.env.example`, and the tables in docs/operations.md. */
import { ROLLUP_FLAGS } from "../../src/cli/rollup-flags.ts";
import { VARIABLES } from "../../src/config.ts";
import { code, table } from "./markdown.ts";

/** A setting, whatever reads it. */
interface Setting {
  readonly name: string;
  readonly fallback?: string | number;
  readonly example?: string;
  readonly description: string;
}

const SERVICE: readonly Setting[] = Object.values(VARIABLES);

/** The table of the service's variables, in Markdown. */
export function serviceTable(): string {
  const rows = SERVICE.map(({ name, fallback, description }) => [
    code(name),
    code(fallback),
    description,
  ]);
  return table([["variable", "default", "meaning"], ...rows]);
}

/** The table of the flags of `npm run rollup`, in Markdown. */
export function rollupTable(): string {
  const rows = ROLLUP_FLAGS.map(({ flag, name, fallback, description }) => [
    code(flag),
    code(name),
    code(fallback),
    description,
  ]);
  return table([["flag", "variable", "default", "meaning"], ...rows]);
}

/** The text of `.env.example`. */
export function environmentExample(): string {
  const lines = (settings: readonly Setting[]) =>
    settings.map(
      ({ name, fallback = "", example = fallback, description }) =>
        `# ${description.replaceAll("`", "")}\n${name}=${example}\n`,
    );
  return [
    "# Made by npm run generate. Except for DATABASE_URL, these are the defaults.",
    "# Copy this file to .env. Then: node --env-file=.env src/main.ts",
    "",
    ...lines(SERVICE),
    "# The variables of npm run rollup.",
    "",
    ...lines(ROLLUP_FLAGS),
  ]
    .join("\n")
    .replace(/\n+$/, "\n");
}
