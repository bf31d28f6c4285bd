/** A terminal with the database's own client, which reads its account from the home folder as a reader's does. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { installPackages } from "../../../dev/private-database/debian-packages.ts";
import { findProgram } from "../../../dev/private-database/server-binary.ts";
import type { CommandResult } from "../../support/commands/run-command.ts";
import { paste } from "../commands/terminal.ts";

/** A terminal on a server. */
export interface Terminal {
  /** Types a command, with more variables of the environment. */
  type(command: string, more?: Readonly<Record<string, string>>): Promise<CommandResult>;
  /** Has the client read a file of SQL, in a database or in none. Throws an Error with what it says if it stops. */
  read(sql: string, database?: string): Promise<void>;
  remove(): void;
}

/** The client: MariaDB's, or MySQL's, and Debian's package if there is neither. */
function findClient(): string {
  const find = () => findProgram("mariadb") ?? findProgram("mysql");
  if (find() === undefined) installPackages(["mariadb-client-core"], console.error);
  const found = find();
  if (found === undefined) throw new Error("there is no client of the database on this machine");
  return found;
}

/** Creates a terminal for the account in a URL. */
export function createTerminal(url: string): Terminal {
  const { hostname, port, username, password } = new URL(url);
  const home = mkdtempSync(join(tmpdir(), "revenue-client-"));
  const account = { host: hostname, port, user: username, password: decodeURIComponent(password) };
  const lines = Object.entries(account).map(([name, value]) => `${name}="${value}"\n`);
  writeFileSync(join(home, ".my.cnf"), `[client]\n${lines.join("")}`, { mode: 0o600 });
  const programs = join(home, "bin");
  mkdirSync(programs);
  symlinkSync(findClient(), join(programs, "mariadb"));
  const environment = { HOME: home, PATH: [programs, process.env.PATH].join(delimiter) };
  const type: Terminal["type"] = (command, more) => paste(command, { ...environment, ...more });
  return {
    type,
    async read(sql, database = "") {
      writeFileSync(join(home, "file.sql"), sql);
      const { code, stderr } = await type(`mariadb ${database} < ${join(home, "file.sql")}`);
      if (code !== 0) throw new Error(stderr);
    },
    remove: () => rmSync(home, { recursive: true }),
  };
}
