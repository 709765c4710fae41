import { cutEnd, type MessageRow, type Store, stripFrames, type Tool, z } from "svc/sdk";
import { sessionToolErrors } from "./errors.ts";
import { foreignFacts } from "./foreign.ts";
import { isVisible, type Visibility } from "./visible.ts";

const MAX_MESSAGES = 50;
const MAX_TEXT_CHARS = 2_000;
const MAX_ALL_CHARS = 40_000;

const input = z.strictObject({
  key: z.string().min(1).max(512).describe("Key of the session, as sessions_list has it"),
  limit: z.number().int().min(1).max(MAX_MESSAGES).optional().describe("Number of messages from the newest, default 20"),
});

interface Deps {
  store: Pick<Store, "sessions" | "messages">;
  visibility: () => Visibility;
}

/** `sessions_history`: the newest messages of a conversation, oldest first, without reasoning and pictures. */
export function historyTool({ store, visibility }: Deps): Tool<z.output<typeof input>> {
  return {
    name: "sessions_history",
    description: "Reads the newest messages of a conversation that you may see, oldest first.",
    input,
    readOnly: true,
    async run({ key, limit = 20 }, call) {
      const session = await store.sessions.get(key);
      if (!session || !isVisible(session, call, visibility())) throw sessionToolErrors.sessionNotVisible({ key });
      const rows = await store.messages.page(session.sessionId, { limit });
      let left = MAX_ALL_CHARS;
      const kept = rows
        .map(shown)
        .reverse()
        .filter(({ text }) => {
          left -= text.length;
          return text !== "" && left >= 0;
        });
      return foreignFacts({ messages: kept.reverse() }, key);
    },
  };
}

function shown({ role, ts, content, toolName }: MessageRow) {
  const text = content
    .map((block) => (block.type === "text" ? block.text : block.type === "toolCall" ? `[calls ${block.name}]` : ""))
    .join("\n");
  return {
    role,
    at: new Date(ts).toISOString(),
    ...(toolName === undefined ? {} : { tool: toolName }),
    text: cutEnd(stripFrames(text).trim(), MAX_TEXT_CHARS),
  };
}
