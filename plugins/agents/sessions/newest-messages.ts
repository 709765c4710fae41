import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageRow, Store } from "svc/sdk";

/** The newest records of a transcript, oldest first; of those with a smaller `seq` than `before`. A page of the store may end earlier than at its number of records. */
export async function newestMessages(
  { messages }: Pick<Store, "messages">,
  sessionId: string,
  { before, limit }: { before?: number; limit: number },
): Promise<MessageRow[]> {
  const pages: MessageRow[][] = [];
  let end = before;
  for (let left = limit; left > 0 && end !== 1; ) {
    const page = await messages.page(sessionId, { limit: left, ...(end === undefined ? {} : { before: end }) });
    if (page.length === 0) break;
    pages.unshift(page);
    left -= page.length;
    end = page[0]?.seq;
    // Pages that are full of bytes arrive one after another, and each is parsed at a stretch.
    if (left > 0) await nextTurn();
  }
  return pages.flat();
}
