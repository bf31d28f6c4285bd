/** What the database server is doing, seen over a connection of its own. */
import { type Connection, createConnection } from "mysql2/promise";
import { inject } from "vitest";

interface Process {
  readonly Id: number;
  readonly db: string | null;
  readonly Command: string;
  readonly Info: string | null;
}

export interface ProcessList {
  /** The ids of the connections to the database, whatever they do. */
  connections(): Promise<number[]>;
  /** The ids of the connections to the database that run a statement with the text in it. */
  running(text: string): Promise<number[]>;
  /** Ends a connection, as an operator does. */
  kill(id: number): Promise<void>;
  close(): Promise<void>;
}

/** Watches what is done in one database. */
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
