import { isSvcError, type MessageRow, type SessionRow, type StoreOp } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { tellNewTranscript } from "../runs/accept.ts";
import { type NewMessage, patchOp } from "../runs/writes.ts";
import { visibleText } from "./display.ts";
import { present } from "./find.ts";
import { newSession, previewOf } from "./row.ts";

interface Note {
  text: string;
  label?: string | undefined;
  /** Id of the record. */
  id: string;
  /** Agent to make the session for when there is none. */
  makeFor?: string;
}

/**
 * Appends a note in the assistant's name; no model is called. An id that the transcript has already adds nothing.
 * @throws {SvcError} `unknown-session`
 */
export function injectNote(kit: Kit, key: string, note: Note): Promise<{ messageId: string; isKnown: boolean }> {
  return kit.sessionLock.run(key, async () => {
    const before = await kit.store().sessions.get(key);
    if (!before && note.makeFor === undefined) throw agentErrors.unknownSession({ key });
    const ts = kit.ctx.clock.now();
    const session = before ?? newSession(key, note.makeFor ?? kit.directory.defaultId, ts);
    const message = toMessage(note, session, ts);
    const seq = await store(kit, { before, session, message });
    if (seq === undefined) return { messageId: note.id, isKnown: true };
    await tell(kit, { before, session, message: { ...message, seq } });
    return { messageId: note.id, isKnown: false };
  });
}

function toMessage({ id, label, text }: Note, { sessionId }: SessionRow, ts: number): NewMessage {
  const shown = label === undefined ? text : `[${label}]\n\n${text}`;
  return { id, sessionId, ts, role: "assistant", content: [{ type: "text", text: shown }], kind: "inject" };
}

interface Write {
  before: SessionRow | undefined;
  session: SessionRow;
}

/** @returns its number, or undefined when it is there already */
async function store(kit: Kit, { before, session, message }: Write & { message: NewMessage }): Promise<number | undefined> {
  const preview = previewOf(visibleText(message.content.map((block) => (block.type === "text" ? block.text : "")).join("")));
  const change = { updatedAt: message.ts, lastActivityAt: message.ts, ...(preview ? { lastMessagePreview: preview } : {}) };
  const write: StoreOp = before
    ? patchOp(session.key, change, session.sessionId)
    : { op: "session.put", session: { ...session, ...change }, ifAbsent: true };
  try {
    const [appended] = await kit.store().commit([{ op: "message.append", message }, write]);
    return appended?.seq ?? 0;
  } catch (error) {
    if (isSvcError(error, "exists") && error.fields.kind === "message") return undefined;
    throw error;
  }
}

async function tell(kit: Kit, { before, session, message }: Write & { message: MessageRow }): Promise<void> {
  const after = (await present(kit, session.key)) ?? session;
  kit.events.message(after, message);
  kit.events.note(after, message);
  kit.events.sessionChanged(after, { reason: before ? "send" : "create" });
  if (before) return;
  kit.ends.used({ sessionKey: after.key, agentId: after.agentId, sessionId: after.sessionId });
  tellNewTranscript(kit, after, undefined);
}
