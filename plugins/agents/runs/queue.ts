import type { QueueMode, RunRequest, SessionRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { fail } from "./finish.ts";
import { waitingRuns } from "./join.ts";
import { summaryLine } from "./left-out.ts";

/** Name under which `messages.queue.byChannel` finds what comes over the protocol. */
const OWN_CHANNEL = "webchat";

/** Queue mode of a message that meets a running turn; undefined for runs that are not part of a conversation. */
export function queueModeOf(
  kit: Pick<Kit, "config">,
  session: Pick<SessionRow, "queueMode" | "channel"> | undefined,
  { request, isChat }: { request: Pick<RunRequest, "queueMode" | "actor">; isChat: boolean },
): QueueMode | undefined {
  const { queue } = kit.config.messages;
  const configured = () => session?.queueMode ?? queue.byChannel[session?.channel ?? OWN_CHANNEL] ?? queue.mode;
  return request.queueMode ?? (isChat || request.actor.kind === "channel" ? configured() : undefined);
}

/** Whether one more may wait in the session, if need be in the place of another. */
export function hasRoom(kit: Pick<Kit, "config" | "runs">, sessionKey: string, mode: QueueMode | undefined): boolean {
  const { cap, drop } = kit.config.messages.queue;
  const waiting = waitingRuns(kit, sessionKey);
  if (waiting.length < cap || mode === "interrupt") return true;
  return mode !== undefined && drop !== "new" && waiting.some((run) => run.mode !== undefined);
}

/** Ends the oldest messages of the conversation that are too many. They stay in the history, but nobody answers them. */
export function makeRoom(kit: Kit, sessionKey: string): void {
  const { cap, drop } = kit.config.messages.queue;
  const waiting = waitingRuns(kit, sessionKey);
  const surplus = waiting.filter((run) => run.mode !== undefined && run.job).slice(0, Math.max(0, waiting.length - cap));
  for (const run of surplus) {
    if (!run.job || !kit.lanes.remove(run.job)) continue;
    run.isLeftOut = true;
    run.abort("superseded");
    if (drop === "summarize") kit.leftOut.add(sessionKey, summaryLine(run.request));
    void fail(run, kit, undefined);
  }
}
