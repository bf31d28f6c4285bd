/**
 * Finds the database server to run: `MYSQLD` if it is set, otherwise the first on the PATH,
 * otherwise from Debian's packages, which are installed.
 */
import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { TIME_LIMIT } from "../time-limit.ts";
import { canInstallPackages, installPackages } from "./debian-packages.ts";

/** A server program. */
export interface ServerBinary {
  readonly path: string;
  readonly engine: "MySQL" | "MariaDB";
  /** `9.7.4`, `10.11.19` */
  readonly version: string;
  /** Options that must come first: they disable the machine's configuration files. */
  readonly firstOptions: readonly string[];
}

/** The oldest versions that the service supports. */
const MINIMUM = { MySQL: [8, 4], MariaDB: [10, 11] } as const;

const INSTRUCTIONS = `No MySQL or MariaDB server was found on this machine. Do one of the following:
  - install one (Debian, Ubuntu: apt-get install mariadb-server-core mariadb-client-core)
  - set MYSQLD to the path of mysqld (8.4 or later) or mariadbd (10.11 or later)
  - set DATABASE_URL to an existing database (mysql://user:password@127.0.0.1:3306/revenue)`;

/**
 * Finds the server to run and installs one if there is none. Throws an Error with instructions
 * if that is not possible, or with the reason if `MYSQLD` is invalid.
 */
export function findServerBinary(log: (line: string) => void): ServerBinary {
  const configured = process.env.MYSQLD;
  if (configured) return configuredBinary(configured);

  const found = binaryOnPath(log);
  if (found !== undefined) return found;

  if (canInstallPackages()) {
    try {
      installPackages(["mariadb-server-core", "mariadb-client-core"], log);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n\n${INSTRUCTIONS}`);
    }
    const installed = binaryOnPath(log);
    if (installed !== undefined) return installed;
  }
  throw new Error(INSTRUCTIONS);
}

/** The path of `program` in the given folders, on the PATH or in the usual folders of servers. */
export function findProgram(program: string, folders: readonly string[] = []): string | undefined {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...folders, ...path, "/usr/local/sbin", "/usr/sbin", "/usr/libexec"]
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

function configuredBinary(path: string): ServerBinary {
  if (!isAbsolute(path) || !isExecutable(path)) {
    throw new Error(`MYSQLD must be the absolute path of a program: ${path}`);
  }
  const binary = readBinary(path);
  if (binary === undefined) {
    throw new Error(`MYSQLD must be a MySQL or MariaDB server: ${path}`);
  }
  if (isTooOld(binary)) throw new Error(`MYSQLD is too old: ${tooOld(binary)}`);
  return binary;
}

function binaryOnPath(log: (line: string) => void): ServerBinary | undefined {
  for (const program of ["mariadbd", "mysqld"]) {
    const path = findProgram(program);
    const binary = path === undefined ? undefined : readBinary(path);
    if (binary === undefined) continue;
    if (!isTooOld(binary)) return binary;
    log(`skipped: ${tooOld(binary)}`);
  }
  return undefined;
}

function readBinary(path: string): ServerBinary | undefined {
  const firstOptions = passesNoDefaults(path) ? [] : ["--no-defaults"];
  let text: string;
  try {
    text = execFileSync(path, [...firstOptions, "--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: TIME_LIMIT,
    });
  } catch {
    return undefined;
  }
  const version = /\bVer (\d+\.\d+\.\d+)/.exec(text)?.[1];
  if (version === undefined) return undefined;
  const engine = /mariadb/i.test(text) ? "MariaDB" : "MySQL";
  return { path, engine, version, firstOptions };
}

/** Reports whether the program is a script that passes `--no-defaults` itself: servers reject it a second time. */
function passesNoDefaults(path: string): boolean {
  if (statSync(path).size > 100_000) return false;
  const script = readFileSync(path, "utf8");
  return script.startsWith("#!") && /--(no-defaults|defaults-file)\b/.test(script);
}

function isTooOld({ engine, version }: ServerBinary): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [minimumMajor, minimumMinor] = MINIMUM[engine];
  return major < minimumMajor || (major === minimumMajor && minor < minimumMinor);
}

function tooOld({ path, engine, version }: ServerBinary): string {
  return `${path} is ${engine} ${version}; ${MINIMUM[engine].join(".")} or later is required`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
