import { normalizedSessionKey } from "svc/sdk";
import type { MemorySource } from "../index-settings.ts";

export interface SearchedCorpus {
  /** Agent whose memory is searched. */
  agentId: string;
  /** Sources that its index holds. */
  sources: readonly MemorySource[];
  /** Sources that the caller wants; all by default. */
  corpus?: "memory" | "sessions" | "all" | undefined;
  /** Session that asks; without one an operator does. */
  sessionKey?: string | undefined;
}

/** Sources that a search may read, and why some of the requested ones are left out. */
export interface VisibleSources {
  sources: MemorySource[];
  warning?: string;
}

/**
 * Transcripts are for their agent's own conversations between two: in a group or a channel others read along, and another agent's session has no business
 * in them.
 */
export function visibleSources({ agentId, sources, corpus = "all", sessionKey }: SearchedCorpus): VisibleSources {
  const wanted = corpus === "all" ? [...sources] : sources.filter((source) => source === corpus);
  if (corpus === "sessions" && wanted.length === 0) {
    return {
      sources: [],
      warning: "session transcripts are not indexed; set memorySearch.experimental.sessionMemory and add sessions to memorySearch.sources",
    };
  }
  if (!wanted.includes("sessions") || maySeeTranscripts(sessionKey, agentId)) return { sources: wanted };
  const left = wanted.filter((source) => source !== "sessions");
  return corpus === "sessions"
    ? { sources: left, warning: "session transcripts are not searched from this conversation" }
    : { sources: left };
}

function maySeeTranscripts(sessionKey: string | undefined, agentId: string): boolean {
  if (sessionKey === undefined) return true;
  const owner = /^agent:([^:]+):/.exec(sessionKey)?.[1]?.toLowerCase();
  if (owner !== undefined && owner !== agentId) return false;
  const parts = normalizedSessionKey(sessionKey).split(":");
  return !parts.includes("group") && !parts.includes("channel");
}
