import { type Store, stripFrames } from "svc/sdk";

/** Rows of a transcript that are read at a time. */
const PAGE_ROWS = 200;
/** Pages looked through for the answer of a run; a page may also end at its size. */
const MAX_PAGES = 50;

/** Reads the last thing the agent said in a run: from the end of the transcript back to the answer, or to where the run began. */
export async function finalText(runId: string, store: Pick<Store, "runs" | "messages">): Promise<string> {
  const run = await store.runs.get(runId);
  let before: number | undefined;
  for (let left = MAX_PAGES; run && left > 0 && before !== 1; left--) {
    const page = await store.messages.page(run.sessionId, { limit: PAGE_ROWS, ...(before === undefined ? {} : { before }) });
    const own = page.filter((row) => row.runId === runId);
    const last = own.findLast(({ role }) => role === "assistant");
    if (last) return stripFrames(last.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
    if (page.length === 0 || own.some(({ role }) => role === "user")) return "";
    before = page[0]?.seq;
  }
  return "";
}
