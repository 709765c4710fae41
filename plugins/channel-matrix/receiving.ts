import { type InboundEvent, messageOf, sleep } from "svc/sdk";
import { eventIn, type MatrixEvent, textOf } from "./events.ts";
import { type FileBudget, fileOf, type ReceivingContext } from "./files.ts";
import { pathOf } from "./homeserver.ts";
import { attachmentOf, isSpoken, relationsOf, toEvent, wordsOf } from "./message.ts";

const MAX_WAIT_MS = 5_000;
/** Text of an answered message that is handed over. */
const MAX_QUOTE_CHARS = 2_000;

/** Hands one event of a room to the host; resolves when the host has stored it, or never wants it. @throws when the account stops before that */
export async function receive(roomId: string, event: MatrixEvent, context: ReceivingContext & { budget: FileBudget }): Promise<void> {
  const { run, directory, self, timing } = context;
  if (event.event_id === "" || event.state_key !== undefined) return;
  const room = directory.enter(roomId);
  if (event.type === "m.room.encrypted") return tellEncrypted(roomId, context);
  if (event.sender === self.userId) {
    const { thread } = relationsOf(event);
    if (thread !== undefined) directory.wroteIn(thread);
    return;
  }
  if (!isSpoken(event)) return;
  const inbound = await readEvent(roomId, event, context);
  if (!inbound) return;
  const file = fileOf(event, inbound, context);
  for (let waitMs = timing.offerMs; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
    run.signal.throwIfAborted();
    try {
      const media = await file();
      await whileRunning(run.receive(media ? { ...inbound, media: [media] } : inbound), run.signal);
      room.lastEventId = event.event_id;
      return;
    } catch (error) {
      run.signal.throwIfAborted();
      // The host takes it for no message at all, and always will.
      if (error instanceof TypeError) return run.logger.warn(`a message was dropped: ${messageOf(error)}`, { id: event.event_id });
      run.logger.debug("a message waits for the host", { id: event.event_id, error: messageOf(error) });
    }
    await sleep(waitMs, run.signal).catch(() => undefined);
  }
}

/** Says once for each room that what is written there cannot be read. The people in it are not told: they did not ask. */
function tellEncrypted(roomId: string, { run, directory }: ReceivingContext): void {
  const room = directory.enter(roomId);
  room.isEncrypted = true;
  if (room.isEncryptionTold) return;
  room.isEncryptionTold = true;
  run.logger.warn("a room is encrypted: its messages are not read, as encryption is not part of this release", { room: roomId });
}

/** Reads a message. One that cannot be read is passed over: it would come again for ever, and those behind it never. */
async function readEvent(roomId: string, event: MatrixEvent, context: ReceivingContext): Promise<InboundEvent | undefined> {
  const { run, directory, self } = context;
  try {
    if (wordsOf(event).trim() === "" && !attachmentOf(event)) return undefined;
    const { thread, reply } = relationsOf(event);
    const isDirect = directory.isDirect(roomId);
    const replied = reply === undefined ? undefined : await repliedEvent(roomId, reply, context);
    const senderName = directory.nameOf(roomId, event.sender);
    return toEvent(event, {
      self,
      roomId,
      roomName: directory.get(roomId)?.name ?? (isDirect ? senderName : undefined),
      senderName,
      isDirect,
      replied,
      isOwnThread: thread !== undefined && directory.hasWrittenIn(thread),
    });
  } catch (error) {
    run.signal.throwIfAborted();
    run.logger.warn(`a message that cannot be read was passed over: ${messageOf(error)}`, { id: event.event_id });
    return undefined;
  }
}

/** The message that another one answers; undefined when it cannot be had. */
async function repliedEvent(
  roomId: string,
  id: string,
  { run, server, timing }: ReceivingContext,
): Promise<{ sender: string; text: string | undefined } | undefined> {
  const path = pathOf`/v3/rooms/${roomId}/event/${id}`;
  const raw = await server.call("GET", path, { limitMs: timing.callMs, signal: run.signal }).catch((error: unknown) => {
    run.signal.throwIfAborted();
    run.logger.debug("an answered message was not fetched", { id, error: messageOf(error) });
  });
  const event = eventIn(raw);
  if (!event) return undefined;
  const text = isSpoken(event) || event.content.msgtype === "m.notice" ? textOf(wordsOf(event), MAX_QUOTE_CHARS) : undefined;
  return { sender: event.sender, text: text || undefined };
}

/** Waits for the host, but no longer than the account runs: what it has not stored comes again. */
function whileRunning(stored: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    stored.then(() => resolve(), reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
