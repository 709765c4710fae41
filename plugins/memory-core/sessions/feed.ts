import { type Disposable, messageOf, type PluginContext } from "svc/sdk";
import type { AgentMemory } from "../agent-memory.ts";
import { watchGrowth } from "./growth.ts";
import { createTranscripts, type Transcripts } from "./transcripts.ts";

/** What brings news of transcripts to the indexes. */
export interface SessionFeed extends Disposable {
  readonly transcripts: Transcripts;
  /** Counts from now on what is said. */
  follow(): void;
}

type FeedHost = Pick<PluginContext, "service" | "on" | "clock" | "timers" | "logger">;

/** @param agents the agents of the present config; asked for at each piece of news */
export function createSessionFeed(host: FeedHost, agents: () => readonly AgentMemory[]): SessionFeed {
  const store = () => host.service("store@1");
  const find = (agentId: string) => agents().find((agent) => agent.settings.agentId === agentId && indexesSessions(agent));
  const failed = (what: string) => (error: unknown) => host.logger.warn(`memory: ${what}: ${messageOf(error)}`);
  let growth: Disposable | undefined;

  // A thread that does not run yet compares all transcripts with its rows when it starts.
  const readAgain = ({ agentId, sessionId }: { agentId: string; sessionId: string }, reason: string) => {
    const index = find(agentId)?.state() && find(agentId)?.index();
    index?.sync({ reason, sessionIds: [sessionId] }).catch(failed(`transcript ${sessionId} could not be read again`));
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
