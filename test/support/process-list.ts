/** The connections of one database, from the server's process list. */
import { type Connection, createConnection } from "mysql2/promise";
import { inject } from "vitest";

interface Process {
  readonly Id: number;
  readonly db: string | null;
  readonly Command: string;
  readonly Info: string | null;
}

/** Reads and kills the connections of one database. */
export interface ProcessList {
  /** The ids of all connections to the database. */
  connections(): Promise<number[]>;
  /** The ids of the connections to the database that run a statement containing the text. */
  running(text: string): Promise<number[]>;
  /** Kills a connection. */
  kill(id: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Watches the database with a name. Its own connection selects no database, so it is not in the
 * list.
 */
export async function watchProcesses(database: string): Promise<ProcessList> {
  const admin: Connection = await createConnection(inject("databaseServer"));
  const list = async (): Promise<Process[]> => {
    const [rows] = await admin.query("SHOW FULL PROCESSLIST");
    return (rows as Process[]).filter((process) => process.db === database);
  };
  return {
    connections: async () => (await list()).map((process) => process.Id),
    running: async (text) =>
      (await list()).filter(({ Info }) => Info?.includes(text)).map((process) => process.Id),
    kill: async (id) => {
      await admin.query("KILL ?", [id]);
    },
    close: () => admin.end(),
  };
}
