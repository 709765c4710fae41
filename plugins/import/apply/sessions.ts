import { cutEnd, type MessageBlock, type SessionRow, type Store, type StoreOp } from "svc/sdk";
import type { SessionStep } from "../plan/import-plan.ts";
import type { LeftOut } from "../plan/left-out.ts";
import type { NewMessage } from "../plan/to-message.ts";

/** Size of a commit. */
const MAX_OPS = 200;
const MAX_CHARS = 4_000_000;
const MAX_TITLE = 60;
const MAX_PREVIEW = 160;

/** Outcome for one conversation; `present`: an earlier import has brought it. */
export type SessionOutcome = "imported" | "present" | "left-out";

/**
 * Stores a conversation: its messages in commits of bounded size, its session with the last of them. One that was cut off goes on where it stopped, because the
 * ids of messages are those of the transcript.
 */
export async function importSession(
  store: Store,
  step: SessionStep,
  how: { signal: AbortSignal; leftOut: LeftOut[] },
): Promise<SessionOutcome> {
  const { key, sessionId } = step.session;
  const before = await store.sessions.get(key);
  if (before?.sessionId === sessionId) return "present";
  if (before || (await store.sessions.bySessionId(sessionId))) {
    const reason = before ? "a conversation with this key is here, and stays" : "its transcript belongs to another conversation here";
    how.leftOut.push({ path: step.path, reason: `${key}: ${reason}` });
    return "left-out";
  }
  await storeMessages(store, step, how.signal);
  return "imported";
}

async function storeMessages(store: Store, step: SessionStep, signal: AbortSignal): Promise<void> {
  const { sessionId } = step.session;
  let skip = await store.messages.count(sessionId);
  let ops: StoreOp[] = [];
  let chars = 0;
  const shown: Partial<SessionRow> = {};
  for await (const message of step.transcript.messages(sessionId)) {
    signal.throwIfAborted();
    show(shown, message);
    if (skip > 0) {
      skip -= 1;
      continue;
    }
    ops.push({ op: "message.append", message });
    chars += sizeOf(message);
    if (ops.length < MAX_OPS && chars < MAX_CHARS) continue;
    await store.commit(ops);
    [ops, chars] = [[], 0];
  }
  const session = { ...shown, ...step.session };
  await store.commit([...ops, { op: "session.put", session, ifAbsent: true }]);
}

/** Title and preview as a conversation held here would have them. */
function show(shown: Partial<SessionRow>, { role, content }: NewMessage): void {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join(" ");
  const line = (max: number) =>
    cutEnd(
      text
        .slice(0, 4 * max)
        .replace(/\s+/g, " ")
        .trim(),
      max,
    );
  if (text.trim() === "") return;
  if (role === "user") shown.derivedTitle ??= line(MAX_TITLE);
  if (role !== "toolResult") shown.lastMessagePreview = line(MAX_PREVIEW);
}

function sizeOf({ content }: NewMessage): number {
  const size = (block: MessageBlock) => {
    if (block.type === "text" || block.type === "reasoning") return block.text.length;
    if (block.type === "toolCall") return (JSON.stringify(block.arguments) ?? "").length;
    return block.data.length;
  };
  return content.reduce((sum, block) => sum + size(block), 0);
}
