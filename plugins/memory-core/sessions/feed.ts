import { type Disposable, messageOf, type PluginContext } from "svc/sdk";
import type { AgentMemory } from "../agent-memory.ts";
import { type BackendTranscripts, createBackendTranscripts } from "./backend-transcripts.ts";
import { watchGrowth } from "./growth.ts";
import { createTranscripts, type Transcripts } from "./transcripts.ts";

/** Reports growth of transcripts to the indexes. */
export interface SessionFeed extends Disposable {
  readonly transcripts: Transcripts;
  readonly forBackends: BackendTranscripts;
  /** Counts from now on what is said. */
  follow(): void;
}

type FeedHost = Pick<PluginContext, "service" | "on" | "clock" | "timers" | "logger">;

/** As many transcripts as an index holds. */
const MAX_WAITING = 10_000;

/** @param agents the agents of the present config; asked for at each piece of news */
export function createSessionFeed(host: FeedHost, agents: () => readonly AgentMemory[]): SessionFeed {
  const store = () => host.service("store@2");
  const find = (agentId: string) => agents().find((agent) => agent.settings.agentId === agentId && indexesSessions(agent));
  const failed = (what: string) => (error: unknown) => host.logger.warn(`memory: ${what}: ${messageOf(error)}`);
  let growth: Disposable | undefined;

  /** Transcripts to be read again, by agent, beside those that are being read: many sessions may end in the time of one sync. */
  const waiting = new Map<string, Set<string>>();
  const readAll = async (agentId: string, reason: string) => {
    for (let ids = waiting.get(agentId); ids && ids.size > 0; ids = waiting.get(agentId)) {
      const sessionIds = [...ids];
      ids.clear();
      const what = sessionIds.length === 1 ? `transcript ${sessionIds[0]}` : `${sessionIds.length} transcripts`;
      const read = async () => find(agentId)?.index().sync({ reason, sessionIds });
      await read().catch(failed(`${what} could not be read again`));
    }
    waiting.delete(agentId);
  };
  // A thread that does not run yet compares all transcripts with its rows when it starts.
  const readAgain = ({ agentId, sessionId }: { agentId: string; sessionId: string }, reason: string) => {
    const index = find(agentId)?.state() && find(agentId)?.index();
    if (!index) return undefined;
    const ids = waiting.get(agentId);
    if (ids && ids.size < MAX_WAITING) ids.add(sessionId);
    if (ids) return index;
    waiting.set(agentId, new Set([sessionId]));
    void readAll(agentId, reason);
    return index;
  };
  const taps = [
    host.on("session.compact", (event) => {
      if (event.phase !== "after") return;
      const { sessionId } = event;
      readAgain(event, "session-compact")
        ?.sessionsGrown([{ sessionId, bytes: 0, messages: 0, isReset: true }])
        .catch(failed(`the account of transcript ${sessionId} could not be closed`));
    }),
    host.on("session.end", (event) => {
      if (event.reason !== "shutdown") readAgain(event, "session-end");
    }),
  ];
  return {
    transcripts: createTranscripts(store),
    forBackends: createBackendTranscripts(store),
    follow() {
      growth ??= watchGrowth({
        store,
        clock: host.clock,
        timers: host.timers,
        agentIds: () =>
          agents()
            .filter(indexesSessions)
            .map((agent) => agent.settings.agentId),
        onGrown: (agentId, grown) => void find(agentId)?.index().sessionsGrown(grown).catch(failed("growth of transcripts was not booked")),
        onFailure: failed("transcripts cannot be followed at present"),
      });
    },
    dispose() {
      void growth?.dispose();
      for (const tap of taps) void tap.dispose();
    },
  };
}

function indexesSessions({ settings }: AgentMemory): boolean {
  return settings.enabled && settings.sharedWith.length === 0 && settings.index.sources.includes("sessions");
}
