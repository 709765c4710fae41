import {
  type Channel,
  type ChannelRun,
  isNotDispatched,
  isSendRefused,
  type Logger,
  messageOf,
  type RenderedText,
  withLimit,
} from "svc/sdk";

/** A message that shows a part of an answer. `isFixed`: it cannot become the final text, because a change of it is still under way or it is too short. */
export interface PostedPreview {
  messageId: string;
  isFixed?: true;
}

/** Longest call; the whole of a try has 60 s, and the text may have to be sent after it. */
const CALL_MS = 15_000;

interface Final {
  to: string;
  preview: PostedPreview;
  text: RenderedText;
}

/**
 * Makes the final text of a preview, in its place. Where that cannot be, the preview is removed if the platform can, and the text is to be sent as a message of its own.
 * A platform that asks for patience is not waited for: the text goes its own way.
 * @returns true when the final text stands in the place of the preview
 * @throws `NotDispatchedError` when there is no link
 */
export async function replacePreview({ to, preview, text }: Final, channel: Channel, run: ChannelRun, logger: Logger): Promise<boolean> {
  const { messageId } = preview;
  const canEdit = channel.edit !== undefined && preview.isFixed !== true;
  // A change that may have been made can be made again: it is the same.
  for (let left = canEdit ? 2 : 0; left > 0; left--) {
    try {
      await limited(async () => channel.edit?.({ to, messageId, text }, run));
      return true;
    } catch (error) {
      if (isNotDispatched(error)) throw error;
      logger.debug(`${channel.id}: a preview could not be made the final text`, { error: messageOf(error) });
      if (isSendRefused(error)) break;
    }
  }
  await removePreview({ to, messageId }, channel, run, logger);
  return false;
}

/** Takes a preview back where the platform can; elsewhere it stays as it is. Never rejects. */
export async function removePreview(
  target: { to: string; messageId: string },
  channel: Channel,
  run: ChannelRun,
  logger: Logger,
): Promise<void> {
  if (channel.capabilities.unsend !== true) return;
  await limited(async () => channel.unsend?.(target, run)).catch((error: unknown) => {
    logger.debug(`${channel.id}: a preview could not be removed`, { error: messageOf(error) });
  });
}

function limited<T>(work: () => Promise<T>): Promise<T> {
  return withLimit(work(), CALL_MS, () => {
    throw new Error("the channel did not answer in time");
  });
}
