import type { MessageRow, Store } from "svc/sdk";
import { oldestRead } from "./compaction.ts";
import { newestMessages } from "./newest-messages.ts";

/** Rows that one prompt is made of at most; far before, older ones become a summary. */
export const MAX_ROWS = 1_200;
/** Rows from which on older ones become a summary, however short they are. */
export const MANY_ROWS = 600;
/** Rows of the first reading: as a rule, the newest compaction is among them. */
const PAGE_ROWS = 400;

/** The newest rows of a transcript as far back as a model reads them, oldest first. */
export async function readTranscript(store: Pick<Store, "messages">, sessionId: string): Promise<MessageRow[]> {
  let rows = await newestMessages(store, sessionId, { limit: PAGE_ROWS });
  while (rows.length > 0 && rows.length < MAX_ROWS) {
    const first = rows[0]?.seq ?? 1;
    if (first <= (oldestRead(rows) ?? 1)) break;
    const older = await newestMessages(store, sessionId, { before: first, limit: Math.min(PAGE_ROWS, MAX_ROWS - rows.length) });
    if (older.length === 0) break;
    rows = [...older, ...rows];
  }
  return rows;
}
