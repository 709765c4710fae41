import { randomUUID } from "node:crypto";
import type { MessageRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { patchOp } from "../runs/writes.ts";
import { visibleText } from "./display.ts";
import { existing } from "./find.ts";
import { previewOf } from "./row.ts";

/** Appends a note in the assistant's name; no model is called. @throws {SvcError} `unknown-session` */
export function injectNote(
  kit: Kit,
  key: string,
  { message, label }: { message: string; label?: string | undefined },
): Promise<MessageRow> {
  return kit.sessionLock.run(key, async () => {
    const session = existing(kit, key);
    const ts = kit.ctx.clock.now();
    const text = label === undefined ? message : `[${label}]\n\n${message}`;
    const note = {
      id: randomUUID(),
      sessionId: session.sessionId,
      ts,
      role: "assistant" as const,
      content: [{ type: "text" as const, text }],
      kind: "inject",
    };
    const preview = previewOf(visibleText(text));
    const change = { updatedAt: ts, lastActivityAt: ts, ...(preview ? { lastMessagePreview: preview } : {}) };
    const results = await kit.store().commit([{ op: "message.append", message: note }, patchOp(key, change, session.sessionId)]);
    const stored = { ...note, seq: results[0]?.seq ?? 0 };
    const after = kit.store().sessions.get(key) ?? session;
    kit.events.message(after, stored);
    kit.events.note(after, stored);
    kit.events.sessionChanged(after, { reason: "send" });
    return stored;
  });
}
