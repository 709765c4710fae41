import { type Disposable, isSvcError, type MemoryProgress, messageOf, type PluginContext } from "svc/sdk";
import { type AgentMemory, createAgentMemory } from "./agent-memory.ts";
import type { HostHandlers } from "./host-calls.ts";
import type { IndexThreadOptions } from "./index-worker-host.ts";
import { noSessions } from "./no-host-handlers.ts";
import type { ProviderAssignment } from "./open-memory-index.ts";
import type { AgentProvider } from "./providers/agent-provider.ts";
import { createQuarantine } from "./quarantine.ts";
import type { Transcripts } from "./sessions/transcripts.ts";
import type { AgentMemorySettings } from "./settings.ts";

export interface OpenedAgent {
  memory: AgentMemory;
  stopEvents(): void;
}

/** Parts that one agent's memory is connected to. */
export interface AgentParts {
  provider: AgentProvider;
  /** Provider that embeds at the moment, if that is known already. */
  assignment: ProviderAssignment | undefined;
  transcripts: Transcripts | undefined;
  startAfter: Promise<void> | undefined;
  onSynced(ms: number): void;
  /** Called when `memory.state()` has changed. */
  onState(): void;
  /** Thread options for tests. */
  threads: IndexThreadOptions | undefined;
}

type OpenHost = Pick<PluginContext, "logger" | "emit" | "isHookUsed" | "runHook" | "kv">;

/** One agent with its events on the wire, in the log and on the hook bus. */
export function openAgent(host: OpenHost, settings: AgentMemorySettings, parts: AgentParts): OpenedAgent {
  const { agentId } = settings;
  const { provider } = parts;
  const events = createProgressEvents((progress) => host.emit("memory.progress", { agentId, ...progress }));
  const memory = createAgentMemory(
    settings,
    {
      startAfter: parts.startAfter,
      threads: parts.threads,
      onState: () => parts.onState(),
      quarantine: createQuarantine(agentId, { kv: host.kv, warn: (message) => host.logger.warn(message, { agentId }) }),
      handlers: { ...provider.calls, ...sessionHandlers(agentId, parts.transcripts) },
      onEmbeddingFailed: (failed) => provider.indexingFailed(failed),
      onProgress: (progress) => events.push(progress),
      onSynced(summary) {
        parts.onSynced(summary.ms);
        if (!host.isHookUsed("memory.synced")) return;
        host.runHook("memory.synced", { agentId, ...summary }, { agentId }).catch((error) => {
          if (!isSvcError(error, "plugin-disposed")) host.logger.warn(`hook memory.synced failed: ${messageOf(error)}`);
        });
      },
      log: (level, message) => host.logger[level](message, { agentId }),
    },
    parts.assignment,
  );
  return { memory, stopEvents: () => events.dispose() };
}

function sessionHandlers(agentId: string, transcripts: Transcripts | undefined): Pick<HostHandlers, "listSessions" | "readSession"> {
  if (!transcripts) return noSessions;
  return {
    listSessions: () => transcripts.list(agentId),
    readSession: ({ sessionId, after }) => transcripts.read(agentId, sessionId, after),
  };
}

interface ProgressEvents extends Disposable {
  push(progress: MemoryProgress): void;
}

/** A little over 100, so that no second ever holds eleven. */
const EVERY_MS = 110;
const MAX_WAITING = 16;

/** Passes on at most ten a second: the newest of a phase, and every end. */
export function createProgressEvents(send: (progress: MemoryProgress) => void): ProgressEvents {
  let waiting: MemoryProgress[] = [];
  let isDisposed = false;
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    timer = undefined;
    const progress = waiting.shift();
    if (!progress) return;
    timer = setTimeout(next, EVERY_MS);
    send(progress);
  };
  return {
    push(progress) {
      if (isDisposed) return;
      const last = waiting.at(-1);
      if (last && !isEnd(last)) waiting.pop();
      if (waiting.length < MAX_WAITING) waiting.push(progress);
      if (!timer) next();
    },
    dispose() {
      waiting = [];
      clearTimeout(timer);
      isDisposed = true;
    },
  };
}

function isEnd({ phase }: MemoryProgress): boolean {
  return phase === "done" || phase === "error";
}
