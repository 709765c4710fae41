import { type HookEvent, type HookMeta, messageOf, type SessionRow } from "svc/sdk";
import { ineligibility, isHelper } from "./eligibility.ts";
import { notePart } from "./note.ts";
import { type SearchDeps, searchFor } from "./search.ts";
import type { Settings } from "./settings.ts";
import { linesOf, type StatusLines } from "./status-lines.ts";
import type { SessionToggles } from "./toggles.ts";

/** Parts that a prompt with a note is made by. */
export interface NoteDeps extends SearchDeps {
  settings: Settings;
  toggles: SessionToggles;
  lines: StatusLines;
}

type Event = HookEvent<"prompt.build">;

/** The prompt with a note, where there is one. Never rejects: an answer does not fail for want of a note. */
export async function addNote(event: Event, meta: HookMeta, parts: NoteDeps): Promise<Event | undefined> {
  const { settings, toggles, lines } = parts;
  if (ineligibility(event, settings) !== undefined || toggles.isOff(event.sessionKey)) return undefined;
  // A picture without a word is no question to notes.
  if (event.prompt.trim() === "") return undefined;
  try {
    const session = await parts.store().sessions.get(event.sessionKey);
    if (isHelper(session)) return undefined;
    const { agentId, sessionKey, prompt, surface, tools } = event;
    const run = { agentId, sessionKey, sessionId: session?.sessionId, runId: meta.runId, prompt, tools };
    const outcome = await searchFor(run, { deps: parts, settings, signal: meta.signal });
    const told = linesOf(outcome);
    if (settings.logging) parts.ctx.logger.info(told[0] ?? "", { agentId, sessionKey });
    if (meta.runId !== undefined && isVerbose(session)) lines.add(meta.runId, { lines: told, surface });
    const context = outcome.note === undefined ? event.context : [...event.context, notePart(outcome.note)];
    return { ...event, context, notes: [...(event.notes ?? []), ...told] };
  } catch (error) {
    parts.ctx.logger.warn("memory was not searched ahead of an answer", { agentId: event.agentId, error: messageOf(error) });
    return undefined;
  }
}

function isVerbose(session: Pick<SessionRow, "verboseLevel"> | undefined): boolean {
  return session?.verboseLevel !== undefined && session.verboseLevel !== "off";
}
