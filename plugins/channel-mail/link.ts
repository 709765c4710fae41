import { type ChannelRun, messageOf, sleep, withLimit } from "svc/sdk";
import type { MailAccount } from "./accounts.ts";
import { autoMailReason } from "./auto-mail.ts";
import { type ImapError, loadSmtp } from "./client.ts";
import { connectImap, type Reach } from "./connect.ts";
import { type Handled, Inbox } from "./inbox.ts";
import { idOf, toEvent, withMedia } from "./incoming.ts";
import type { ParsedMail } from "./mime.ts";
import { type MailParser, MailTooHard } from "./parser.ts";
import type { ProgressStore } from "./progress.ts";
import { wordsOf } from "./refusals.ts";
import { verdictOn } from "./sender.ts";
import type { Threads } from "./threads.ts";

/** Parts that the links of one account share. */
export interface Mailroom {
  run: ChannelRun<MailAccount>;
  reach: Reach;
  progress: ProgressStore;
  threads: Threads;
  parser: MailParser;
}

/** One link to the IMAP server: opens the mailbox, hands over what is in it, and waits for more. @throws the reason why it is gone */
export async function linkOnce(mailroom: Mailroom, handle: Handler, onReady: () => void): Promise<undefined> {
  const { run, reach, progress } = mailroom;
  const { timing } = reach;
  // The first answer is not to wait for its library: what is cut off while it is sent may be with the server.
  await loadSmtp(reach.vendor);
  const client = await connectImap(reach, run.signal);
  const gone = new AbortController();
  const signal = AbortSignal.any([run.signal, gone.signal]);
  const command = <T>(work: Promise<T>) =>
    withLimit(
      work,
      timing.commandMs,
      () => {
        throw new Error(`the IMAP server did not answer within ${timing.commandMs / 1_000} s`);
      },
      signal,
    );
  let wake: () => void = () => undefined;
  let hasNews = false;
  signal.addEventListener("abort", () => wake(), { once: true });
  client.on("close", () => gone.abort(new Error("the IMAP server closed the link")));
  client.on("error", (error) => gone.abort(error));
  client.on("exists", () => {
    hasNews = true;
    wake();
  });
  const work = async () => {
    const mailbox = await command(client.mailboxOpen(run.account.imap.mailbox)).catch((error: ImapError) => {
      throw new Error(`the mailbox cannot be opened: ${error.responseText ?? error.message}`, { cause: error });
    });
    const inbox = await Inbox.open({ run, timing, client, mailbox, progress, signal, handle: (raw, isCut) => handle(raw, isCut, signal) });
    onReady();
    for (let waitMs = 0; !signal.aborted; ) {
      hasNews = false;
      await inbox.drain();
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (hasNews) continue;
      // A mail that came just before IDLE is told by some servers only when they are asked: the first time soon.
      waitMs = waitMs === 0 ? Math.min(timing.firstPollMs, run.account.pollIntervalMs) : run.account.pollIntervalMs;
      if (client.capabilities.has("IDLE")) void client.idle().catch(() => undefined);
      const waited = new AbortController();
      await Promise.race([news, sleep(waitMs, waited.signal).catch(() => undefined)]);
      waited.abort();
      signal.throwIfAborted();
      // Ends IDLE, has a server without it look for mail, and shows that the server is there.
      await command(client.noop());
      if (hasNews) waitMs = 0;
    }
    return undefined;
  };
  try {
    // A host that is slow with a mail does not keep the account from seeing that its link is gone.
    return await whileNotAborted(work(), signal);
  } finally {
    client.close();
  }
}

/** @throws the signal's reason as soon as it aborts */
async function whileNotAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
  });
  work.catch(() => undefined);
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", onAbort));
}

export type Handler = (raw: Uint8Array, isCut: boolean, signal: AbortSignal) => Promise<Handled>;

/** Makes what takes the mails of an account, one after the other: a host that is slow with a mail has it only once, whatever becomes of the link. */
export function createHandler(mailroom: Mailroom): Handler {
  let last: Promise<unknown> = Promise.resolve();
  return (raw, isCut, signal) => {
    const handled = last.then(() => {
      signal.throwIfAborted();
      return handleMail(mailroom, raw, isCut);
    });
    last = handled.catch(() => undefined);
    return handled;
  };
}

/** @throws when the host cannot take the mail now */
async function handleMail(mailroom: Mailroom, raw: Uint8Array, isCut: boolean): Promise<Handled> {
  const { run, threads } = mailroom;
  const { account, logger } = run;
  const mail = await parsed(mailroom, raw, isCut);
  if (!mail) return "dropped";
  const id = idOf(mail, raw);
  const refusal = refusalOf(mail, account);
  if (refusal !== undefined) {
    logger.info(`a mail was not taken: ${refusal}`, { id: wordsOf(id), sender: wordsOf(mail.from[0]?.address ?? "") });
    return "dropped";
  }
  const root = threads.rootOf({ ...mail, messageId: id });
  const event = toEvent(mail, { id, root });
  if (!event) return "dropped";
  // An answer may be on its way before the host's verdict is here, and after a crash before the mail is offered again.
  await threads.propose(root, { messageId: id, subject: mail.subject, at: run.clock.now() });
  try {
    const { status } = await run.receive(await withMedia(event, mail.attachments, run));
    await (status === "dropped" ? threads.reject() : threads.accept());
    return status === "dropped" ? "dropped" : "taken";
  } catch (error) {
    // The host takes it for no message at all, and always will.
    if (!(error instanceof TypeError)) throw error;
    await threads.reject();
    logger.warn(`a mail was dropped: ${messageOf(error)}`, { id: wordsOf(id) });
    return "dropped";
  }
}

/** Reason why the host is not asked about a mail at all. */
function refusalOf(mail: ParsedMail, { address, authservIds, acceptsUnverified }: MailAccount): string | undefined {
  const auto = autoMailReason(mail, address);
  if (auto !== undefined) return auto;
  if (mail.from.length !== 1) return "no-single-author";
  const verdict = verdictOn(mail, authservIds);
  // A server that was asked and said no is believed, whatever is accepted otherwise.
  if (verdict === "fail" && authservIds.length > 0) return "sender-not-authentic";
  return verdict === "pass" || acceptsUnverified ? undefined : "sender-not-verified";
}

/** A mail that cannot be parsed is taken by its header. */
async function parsed({ parser, run }: Mailroom, raw: Uint8Array, isCut: boolean): Promise<ParsedMail | undefined> {
  try {
    return await parser.parse(raw, isCut);
  } catch (error) {
    if (!(error instanceof MailTooHard)) throw error;
    run.logger.warn("the body of a mail was not read", { error: messageOf(error) });
    const end = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).indexOf("\r\n\r\n");
    return parser.parse(raw.subarray(0, end < 0 ? 16_384 : Math.min(end + 4, 65_536)), false).then(
      (mail) => ({ ...mail, fault: "unreadable" as const }),
      () => undefined,
    );
  }
}
