import { methodSpec, z } from "svc/sdk";

/** Methods of the protocol that this plugin serves. */
export const mcpServedMethods = {
  "mcp.served": methodSpec("read", "tools that `/mcp` offers to the caller, and whether clients can be served", z.strictObject({})),
} as const;

/** Answers of these methods. */
export const mcpServedResults = {
  "mcp.served": z.object({
    path: z.string().describe("path of the gateway that clients are given"),
    problem: z.string().exactOptional().describe("why no client can be served"),
    tools: z.array(z.object({ name: z.string(), title: z.string(), description: z.string(), isReadOnly: z.boolean() })),
  }),
};
