import { randomUUID } from "node:crypto";
import type { RunRequest, StoreOp, SystemEventRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { Run } from "../runs/run.ts";
import type { NewMessage } from "../runs/writes.ts";
import { EVENTS_PER_PROMPT, SYSTEM_EVENTS_KIND, toSystemLines } from "./system-lines.ts";

/** Events for the next prompt of a session, at most 20. The answer to a tool call takes nothing along: it has to follow its call. */
export async function pendingFor(kit: Pick<Kit, "store">, request: RunRequest, sessionKey: string): Promise<SystemEventRow[]> {
  if ((request.toolResults?.length ?? 0) > 0) return [];
  return kit.store().systemEvents.pending(sessionKey, EVENTS_PER_PROMPT);
}

/** The events as one row of the transcript, right before the message of the run. */
export function withEvents(
  messages: readonly NewMessage[],
  run: Run,
  { events, now }: { events: SystemEventRow[]; now: number },
): NewMessage[] {
  if (events.length === 0) return [...messages];
  const row: NewMessage = {
    id: randomUUID(),
    sessionId: run.sessionId,
    ts: now,
    role: "user",
    content: [{ type: "text", text: toSystemLines(events) }],
    runId: run.id,
    kind: SYSTEM_EVENTS_KIND,
  };
  const at = messages.findLastIndex((m) => m.role === "user" && m.runId === run.id);
  return at < 0 ? [...messages, row] : [...messages.slice(0, at), row, ...messages.slice(at)];
}

/** In the commit that stores the row: an event is read once, whatever happens. */
export function takeOps(events: readonly SystemEventRow[]): StoreOp[] {
  return events.length === 0 ? [] : [{ op: "systemEvent.take", ids: events.map((event) => event.id), all: true }];
}
