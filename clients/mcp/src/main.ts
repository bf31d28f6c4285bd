#!/usr/bin/env node
/** An MCP server over stdio: each RPC of the revenue service as a tool that only reads. */
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createTools, instructions, version } from "./contract.ts";
import { ask, type Configuration, readConfiguration } from "./service.ts";

const configuration = readConfiguration(process.env);
if ("url" in configuration) {
  serveStdio(() => createServer(configuration), {
    onerror: (error) => console.error(error.message),
  });
} else {
  for (const mistake of configuration) console.error(mistake);
  process.exitCode = 1;
}

function createServer(service: Configuration): McpServer {
  const server = new McpServer({ name: "revenue-service", version }, { instructions });
  for (const { name, title, description, inputSchema, target } of createTools()) {
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: fromJsonSchema<Readonly<Record<string, unknown>>>(inputSchema, {
          getValidator: () => (data) => ({
            valid: true,
            data: data as never,
            errorMessage: undefined,
          }),
        }),
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      },
      // What it throws becomes a tool error with the message.
      async (args, { mcpReq: { signal } }) => ({
        content: [{ type: "text", text: await ask(service, target(args), signal) }],
      }),
    );
  }
  return server;
}
