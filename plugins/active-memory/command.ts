import type { ChatCommand } from "svc/sdk";
import type { Settings } from "./settings.ts";
import type { SessionToggles } from "./toggles.ts";

interface Deps {
  settings(): Settings;
  toggles: Pick<SessionToggles, "isOff" | "set">;
  /** Writes the config. */
  setGlobal(isOn: boolean, by: string): Promise<void>;
}

const USAGE = "Expected /active-memory status, on or off; with --global for all sessions. Nothing was changed.";

/** `/active-memory`: whether memory is searched ahead of the answers of a session, or of all. */
export function activeMemoryCommand(deps: Deps): ChatCommand {
  return {
    name: "active-memory",
    help: "status, on or off: search memory before each answer of this conversation; --global: of all of them",
    scope: "write",
    scopeFor: (argument) => (wordsOf(argument).isGlobal ? "admin" : "write"),
    isForOwners: true,
    async run({ agentId, sessionKey, argument, by }) {
      const { words, isGlobal } = wordsOf(argument);
      const [word = "status", ...more] = words;
      if (more.length > 0 || !["status", "on", "off"].includes(word)) return USAGE;
      if (isGlobal) return globally(word, by, deps);
      if (sessionKey === "") return "There is no conversation here to switch it for; --global means all of them.";
      if (word === "status") return statusText({ agentId, sessionKey }, deps);
      await deps.toggles.set(sessionKey, word === "on");
      return word === "off"
        ? "Active memory is off in this conversation."
        : `Active memory is on in this conversation.${caveat(agentId, deps.settings())}`;
    },
  };
}

function wordsOf(argument: string): { words: string[]; isGlobal: boolean } {
  const words = argument
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return { words: words.filter((word) => word !== "--global"), isGlobal: words.includes("--global") };
}

async function globally(word: string, by: string, { settings, setGlobal }: Deps): Promise<string> {
  if (word === "status") return `Active memory is ${settings().enabled ? "on" : "off"} for all conversations.`;
  if (settings().enabled !== (word === "on")) await setGlobal(word === "on", by);
  return `Active memory is ${word} for all conversations.`;
}

function statusText({ agentId, sessionKey }: { agentId: string; sessionKey: string }, { settings, toggles }: Deps): string {
  const { enabled, agents, allowedChatTypes, queryMode, model, timeoutMs } = settings();
  const state = toggles.isOff(sessionKey)
    ? "off in this conversation"
    : !enabled
      ? "off for all conversations"
      : !agents.includes(agentId)
        ? `not set up for agent ${agentId}`
        : "on";
  return [
    `Active memory is ${state}.`,
    `Conversations: ${allowedChatTypes.join(", ") || "none"}. Reads: ${queryMode}. Model: ${model ?? "that of the conversation"}. Time limit: ${timeoutMs} ms.`,
  ].join("\n");
}

/** Why "on" alone may not be enough. */
function caveat(agentId: string, { enabled, agents }: Settings): string {
  if (!enabled) return " It is off for all conversations, so nothing happens: /active-memory on --global.";
  return agents.includes(agentId)
    ? ""
    : ` The config does not name agent ${agentId}, so nothing happens: plugins.entries.active-memory.config.agents.`;
}
