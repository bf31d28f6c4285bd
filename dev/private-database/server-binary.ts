/**
 * Which database server to run: `MYSQLD` where it is set, else what is on the
 * PATH, else Debian's light packages, else an error that says the ways on.
 */
import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { canInstallPackages, installPackages } from "./debian-packages.ts";

export interface ServerBinary {
  readonly path: string;
  readonly engine: "MySQL" | "MariaDB";
  /** `9.7.4`, `10.11.19` */
  readonly version: string;
  /** The options that keep the machine's own configuration files out; they come first. */
  readonly firstOptions: readonly string[];
}

/** The oldest servers that the service runs on. */
const OLDEST = { MySQL: [8, 4], MariaDB: [10, 11] } as const;

const WAYS_ON = `No MySQL or MariaDB server was found on this machine. There are three ways on:
  - install one (Debian, Ubuntu: apt-get install mariadb-server-core mariadb-client-core)
  - set MYSQLD to the path of a mysqld (8.4 or later) or a mariadbd (10.11 or later)
  - set DATABASE_URL to a database that may be used (mysql://user:password@127.0.0.1:3306/revenue)`;

/**
 * Finds the server to run, installing one where there is none and that can be
 * done. Throws an Error for people where there is no way, or `MYSQLD` is wrong.
 */
export function findServerBinary(say: (line: string) => void): ServerBinary {
  const named = process.env.MYSQLD;
  if (named !== undefined && named !== "") return namedBinary(named);

  const found = binaryOnPath(say);
  if (found !== undefined) return found;

  if (canInstallPackages()) {
    try {
      installPackages(["mariadb-server-core", "mariadb-client-core"], say);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n\n${WAYS_ON}`);
    }
    const installed = binaryOnPath(say);
    if (installed !== undefined) return installed;
  }
  throw new Error(WAYS_ON);
}

/** The file `program` in the folders of the PATH, or in those where servers lie beside it. */
export function findProgram(program: string, folders: readonly string[] = []): string | undefined {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...folders, ...path, "/usr/local/sbin", "/usr/sbin", "/usr/libexec"]
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

function namedBinary(path: string): ServerBinary {
  if (!isAbsolute(path) || !isExecutable(path)) {
    throw new Error(`MYSQLD is ${path}, which is not the absolute path of a program`);
  }
  const binary = readBinary(path);
  if (binary === undefined) {
    throw new Error(`MYSQLD is ${path}, which is not a MySQL or MariaDB server`);
  }
  if (isTooOld(binary)) throw new Error(`MYSQLD is ${tooOld(binary)}`);
  return binary;
}

function binaryOnPath(say: (line: string) => void): ServerBinary | undefined {
  for (const program of ["mariadbd", "mysqld"]) {
    const path = findProgram(program);
    const binary = path === undefined ? undefined : readBinary(path);
    if (binary === undefined) continue;
    if (!isTooOld(binary)) return binary;
    say(`not used: ${tooOld(binary)}`);
  }
  return undefined;
}

function readBinary(path: string): ServerBinary | undefined {
  const firstOptions = namesDefaults(path) ? [] : ["--no-defaults"];
  let text: string;
  try {
    text = execFileSync(path, [...firstOptions, "--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 10_000,
    });
  } catch {
    return undefined;
  }
  const version = /\bVer (\d+\.\d+\.\d+)/.exec(text)?.[1];
  if (version === undefined) return undefined;
  const engine = /mariadb/i.test(text) ? "MariaDB" : "MySQL";
  return { path, engine, version, firstOptions };
}

/** Whether it is a script that passes `--no-defaults` itself: a server takes it only once. */
function namesDefaults(path: string): boolean {
  if (statSync(path).size > 100_000) return false;
  const script = readFileSync(path, "utf8");
  return script.startsWith("#!") && /--(no-defaults|defaults-file)\b/.test(script);
}

function isTooOld({ engine, version }: ServerBinary): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST[engine];
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

function tooOld({ path, engine, version }: ServerBinary): string {
  return `${path} is ${engine} ${version}; ${OLDEST[engine].join(".")} or later is needed`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
