/** A peer: a Fastify route that runs `SELECT 1` and sends a static body of the size in its path. */
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { createPool } from "mysql2/promise";

const pool = createPool({ uri: process.env.DATABASE_URL ?? "", connectionLimit: 10 });
const app = fastify();
const bodies = new Map<string, string>();

app.get<{ Params: { bytes: string } }>("/:bytes", async (request, reply) => {
  await pool.query("SELECT 1");
  const body = bodies.getOrInsertComputed(request.params.bytes, (bytes) =>
    JSON.stringify({ padding: "x".repeat(Number(bytes)) }),
  );
  return reply.type("application/json; charset=utf-8").send(body);
});

await app.listen({ host: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ httpPort: (app.server.address() as AddressInfo).port }));
process.on("SIGTERM", () => process.exit(0));
