import { type ChannelRun, type InboundEvent, messageOf } from "svc/sdk";
import type { MatrixAccount } from "./accounts.ts";
import type { Directory } from "./directory.ts";
import type { MatrixEvent } from "./events.ts";
import type { Homeserver } from "./homeserver.ts";
import { attachmentOf, type Self } from "./message.ts";
import type { MatrixTiming } from "./timing.ts";

/** Surroundings of a link by which messages come. */
export interface ReceivingContext {
  run: ChannelRun<MatrixAccount>;
  server: Homeserver;
  directory: Directory;
  self: Self;
  timing: MatrixTiming;
}

type Media = NonNullable<InboundEvent["media"]>[number];

/** Time that is left to fetch the files of one answer to `/sync`: each comes from the server of its sender, which may be slow on purpose. Waiting for the host takes nothing off it. */
export interface FileBudget {
  leftMs: number;
}

/** Time for which a stored file is offered again: the host removes it after 10 min without its message. */
const KEPT_MS = 9 * 60_000;

/**
 * The file of a message, to be asked for each time that the message is offered: what was fetched is offered again. One that cannot be had, or whose message the host
 * does not want, is named without its content.
 */
export function fileOf(
  event: MatrixEvent,
  message: InboundEvent,
  context: ReceivingContext & { budget: FileBudget },
): () => Promise<Media | undefined> {
  const { run } = context;
  const attachment = attachmentOf(event);
  let kept: { media: Media; until: number } | undefined;
  return async () => {
    if (!attachment) return undefined;
    if (kept && run.clock.monotonic() < kept.until) return kept.media;
    kept = undefined;
    const { kind, mime, name, bytes } = attachment;
    const named = { kind, mime, ...(name === undefined ? {} : { name }), ...(bytes === undefined ? {} : { bytes }) };
    if ((await run.admits?.(message)) === false) return named;
    try {
      const media = { ...named, ...(await fetched(event, attachment, context)) };
      kept = { media, until: run.clock.monotonic() + KEPT_MS };
      return media;
    } catch (error) {
      run.signal.throwIfAborted();
      run.logger.warn(`a file was not fetched: ${messageOf(error)}`, { kind });
      return named;
    }
  };
}

async function fetched(
  event: MatrixEvent,
  { mime, name, bytes, at }: NonNullable<ReturnType<typeof attachmentOf>>,
  { run, server, budget }: ReceivingContext & { budget: FileBudget },
): Promise<{ path: string; bytes: number; mime: string }> {
  const { maxFileBytes } = run.account;
  if (!at) throw new Error("file" in event.content ? "it is encrypted" : "it has no address");
  if (bytes !== undefined && bytes > maxFileBytes) throw new Error(`it has ${bytes} bytes; maxFileBytes allows ${maxFileBytes}`);
  const leftMs = Math.floor(budget.leftMs);
  if (leftMs <= 0) throw new Error("the files before it have taken the time for all");
  const started = run.clock.monotonic();
  try {
    const limit = AbortSignal.any([run.signal, AbortSignal.timeout(leftMs)]);
    const content = limited(await server.download(at.server, at.id, limit), maxFileBytes);
    return await run.saveMedia(content, { mime, ...(name === undefined ? {} : { name }) });
  } finally {
    budget.leftMs -= run.clock.monotonic() - started;
  }
}

/** The size in a message is what its sender's client said. */
async function* limited(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes (maxFileBytes)`);
    yield chunk;
  }
}
