import { cutEnd, type MessageRow, normalizedSessionKey, stripFrames, type ToolResult } from "svc/sdk";
import type { ServedCall } from "./served-tool.ts";

const MAX_MESSAGE_CHARS = 4_000;
/** Sessions that nobody continues, of requests without one. */
const passing = ["openai:", "openresponses:", "mcp:"];

/** Conversations of one agent. */
export async function sessionList(
  { limit, search, agentId }: { limit: number; search?: string | undefined; agentId?: string | undefined },
  { ctx }: ServedCall,
): Promise<ToolResult> {
  const agent = ctx.service("agents@1").resolve(agentId === undefined ? {} : { agentId }).agentId;
  const query = { agentId: agent, archived: false, sortBy: "updatedAt" as const, limit: 200, ...(search === undefined ? {} : { search }) };
  const { rows } = await ctx.service("store@2").sessions.list(query);
  const shown = rows.filter(({ key }) => !passing.some((name) => normalizedSessionKey(key).startsWith(name))).slice(0, limit);
  return json({
    sessions: shown.map(({ key, label, derivedTitle, channel, updatedAt, lastMessagePreview, status }) => ({
      sessionKey: key,
      title: label ?? derivedTitle ?? null,
      ...(channel === undefined ? {} : { channel }),
      ...(status === undefined ? {} : { status }),
      updatedAt: new Date(updatedAt).toISOString(),
      ...(lastMessagePreview === undefined ? {} : { preview: stripFrames(lastMessagePreview) }),
    })),
  });
}

/** Newest messages of one conversation, without results of tools. */
export async function sessionHistory(
  { sessionKey, limit, agentId }: { sessionKey: string; limit: number; agentId?: string | undefined },
  { ctx }: ServedCall,
): Promise<ToolResult> {
  const target = ctx.service("agents@1").resolve({ sessionKey, ...(agentId === undefined ? {} : { agentId }) });
  const store = ctx.service("store@2");
  const session = await store.sessions.get(target.sessionKey);
  if (!session) return { content: [{ type: "text", text: `There is no session ${target.sessionKey}.` }], isError: true };
  const rows = await store.messages.page(session.sessionId, { limit: limit * 4 });
  const messages = rows.flatMap(shownMessage).slice(-limit);
  return json({ sessionKey: target.sessionKey, messages });
}

function shownMessage({ role, content, ts }: MessageRow): object[] {
  if (role === "toolResult") return [];
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (text.trim() === "") return [];
  return [{ role, at: new Date(ts).toISOString(), text: cutEnd(stripFrames(text), MAX_MESSAGE_CHARS) }];
}

function json(value: object): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value, null, 1) }] };
}
