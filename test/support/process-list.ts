/** The connections of one database, from the server's process list. */
import type { Connection } from "mysql2/promise";
import { inject } from "vitest";
import { connectTo } from "./database.ts";

interface Process {
  readonly Id: number;
  readonly db: string | null;
  readonly State: string | null;
  readonly Info: string | null;
}

/** Reads and kills the connections of one database: `watchProcesses`. */
export type ProcessList = Awaited<ReturnType<typeof watchProcesses>>;

/**
 * Watches the database with a name. Its own connection selects no database, so it is not in the
 * list.
 */
export async function watchProcesses(database: string) {
  const admin: Connection = await connectTo(inject("databaseServer"));
  const list = async (): Promise<Process[]> => {
    const [rows] = await admin.query("SHOW FULL PROCESSLIST");
    return (rows as Process[]).filter((process) => process.db === database);
  };
  const idsOf = async (matches: (process: Process) => boolean) =>
    (await list()).filter(matches).map(({ Id }) => Id);
  return {
    /** The ids of all connections to the database. */
    connections: () => idsOf(() => true),
    /** Of those that prepare or run a statement containing the text. */
    running: (text: string) => idsOf(({ Info }) => Info?.includes(text) === true),
    /** Of those whose statement containing the text waits for the lock of a table. */
    waiting: (text: string) =>
      idsOf(({ Info, State }) => Info?.includes(text) === true && /^Waiting for/.test(State ?? "")),
    /** Of those whose statement is in a SLEEP: it has its snapshot. */
    sleeping: () => idsOf(({ State }) => State === "User sleep"),
    kill: async (id: number) => {
      await admin.query("KILL ?", [id]);
    },
    close: () => admin.end(),
  };
}
