// The same kind of server by the official Node SDK, as its documentation writes one: each call of `ask`
// waits until it is cancelled. It keeps nothing on disk.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "parking", version: "1.0.0" });
const tool = { description: "Asks and waits", inputSchema: { question: z.string() } };
server.registerTool("ask", tool, (_, { signal }) => {
  const cancelled = () => ({ content: [{ type: "text", text: "cancelled" }] });
  return new Promise((done) => signal.addEventListener("abort", () => done(cancelled())));
});
await server.connect(new StdioServerTransport());
