/** A terminal of somebody who follows the README: a shell in the repository's folder. */
import { execFile, spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { ROOT } from "../readme.ts";

/** What a command wrote, and with which code it ended. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment of a terminal that was opened by hand: not the one that npm made for its scripts. */
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
    PATH: path?.join(delimiter),
    ...more,
  };
}

/** Pastes a command and waits for its end, for a minute. */
export function paste(
  command: string,
  environment: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const child = execFile(
    "/bin/sh",
    ["-c", command],
    { cwd: ROOT, env: terminalEnvironment(environment), timeout: 60_000 },
    (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr: withoutWarnings(stderr) }),
  );
  return promise;
}

/** What npm says of the machine's own config is none of the command's words. */
function withoutWarnings(stderr: string): string {
  return stderr.replaceAll(/^npm (warn|notice).*\n/gm, "");
}

/** Whether the machine has curl, which the README's readers have. */
export const HAS_CURL = spawnSync("curl", ["--version"]).status === 0;

/** A command with the service's real ports in place of the usual ones. */
export function atPorts(
  command: string,
  { http, grpc }: { readonly http: string; readonly grpc: string },
): string {
  return command.replaceAll("http://127.0.0.1:8080", http).replaceAll("127.0.0.1:50051", grpc);
}
