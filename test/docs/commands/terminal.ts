/** A reader's terminal: a shell in the folder of the repository. */
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { type CommandResult, runProgram } from "../../support/commands/run-command.ts";
import { ROOT, rootFile } from "../markdown.ts";

/** The environment of a terminal, without what npm and vitest add for their scripts. */
export function terminalEnvironment(
  more: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> {
  const ours = join(ROOT, "node_modules");
  const path = process.env.PATH?.split(delimiter).filter((folder) => !folder.startsWith(ours));
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV$|FORCE_COLOR$)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    DATABASE_URL: undefined,
    HOST: undefined,
    LOG_LEVEL: undefined,
    NO_COLOR: "1",
    // A shell complains of a locale that the machine does not have.
    LC_ALL: "C.UTF-8",
    PATH: path?.join(delimiter),
    ...more,
  };
}

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  rootFile("package.json"),
);

/**
 * What npm would run for a command: the script of `npm run key -- list`, the program of
 * `npx buf`. npm itself takes as long to start as what it runs.
 */
function withoutNpm(command: string): string {
  return command
    .replace(/^npm (?:run )?([\w-]+)(?: --)?/, (_, name: string) => scripts[name] ?? "false")
    .replace(/^npx /, "");
}

/** Runs a command as pasted, but without npm. */
export function paste(
  command: string,
  environment: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const env = terminalEnvironment(environment);
  // As npm does: the programs of the packages come first, Node among them.
  const path = [join(ROOT, "node_modules/.bin"), env.PATH].join(delimiter);
  return runProgram("/bin/sh", ["-c", withoutNpm(command)], { env: { ...env, PATH: path } });
}

/** Whether this machine has curl. */
export const HAS_CURL = spawnSync("curl", ["--version"]).status === 0;

/** A command with the ports of a running service in place of the default ones. */
export function atPorts(
  command: string,
  { http, grpc }: { readonly http: string; readonly grpc: string },
): string {
  return command.replaceAll("http://127.0.0.1:8080", http).replaceAll("127.0.0.1:50051", grpc);
}
