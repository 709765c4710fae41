import { type ToolResult, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";
import { askAgent } from "./ask-agent.ts";
import type { ServedCall, ServedTool } from "./served-tool.ts";
import { sessionHistory, sessionList } from "./sessions.ts";

function tool<S extends z.ZodType>(
  definition: Omit<ServedTool, "input" | "run"> & { input: S; run(args: z.output<S>, call: ServedCall): Promise<ToolResult> },
): ServedTool {
  return definition as unknown as ServedTool;
}

const agentId = idText(64).optional().describe("Agent; unset: the default one");
const sessionKey = idText(512);

/** Calls a tool of the agent, as `POST /tools/invoke` does. */
const ofAgent =
  (name: string) =>
  (args: { agentId?: string | undefined }, { ctx, http, signal }: ServedCall) => {
    const { agentId: id, ...rest } = args;
    const agents = ctx.service("agents@1");
    const target = agents.resolve(id === undefined ? {} : { agentId: id });
    return agents.invokeTool(name, rest, { ...target, signal, outside: { isOwner: http.scopes.includes("operator.admin") } });
  };

/** Everything that `/mcp` offers. */
export const servedTools: readonly ServedTool[] = [
  tool({
    name: "memory_search",
    title: "Search notes",
    description: "Searches the notes of an agent by meaning and words; each hit has a path and lines, which memory_get reads.",
    input: z.strictObject({ query: z.string().min(1).max(4_000), maxResults: z.int().min(1).max(50).optional(), agentId }),
    isReadOnly: true,
    isOfAgent: true,
    run: ofAgent("memory_search"),
  }),
  tool({
    name: "memory_get",
    title: "Read a note",
    description: "Reads lines of a note of an agent.",
    input: z.strictObject({
      path: z.string().min(1).max(1_024),
      from: z.int().min(1).optional().describe("First line"),
      lines: z.int().min(1).max(2_000).optional().describe("Number of lines"),
      agentId,
    }),
    isReadOnly: true,
    isOfAgent: true,
    run: ofAgent("memory_get"),
  }),
  tool({
    name: "sessions_list",
    title: "List conversations",
    description: "Lists the conversations of an agent, the newest first.",
    input: z.strictObject({ limit: z.int().min(1).max(50).default(20), search: z.string().min(1).max(200).optional(), agentId }),
    isReadOnly: true,
    isOfAgent: true,
    run: sessionList,
  }),
  tool({
    name: "sessions_history",
    title: "Read a conversation",
    description: "Reads the newest messages of a conversation, oldest first.",
    input: z.strictObject({ sessionKey, limit: z.int().min(1).max(50).default(20), agentId }),
    isReadOnly: true,
    isOfAgent: true,
    run: sessionHistory,
  }),
  tool({
    name: "ask_agent",
    title: "Ask an agent",
    description:
      "Gives an agent a message and returns its answer; the agent may use its own tools meanwhile. Without sessionKey it knows nothing of earlier messages.",
    input: z.strictObject({
      message: z.string().min(1).max(200_000),
      sessionKey: sessionKey.optional().describe("Conversation to continue; unset: one of its own, which is not kept"),
      model: z.string().min(1).max(256).optional(),
      agentId,
    }),
    isReadOnly: false,
    isOfAgent: false,
    run: askAgent,
  }),
];
