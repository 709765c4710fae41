import { setImmediate as nextTurn } from "node:timers/promises";
import { type Entry, follows, type Link } from "./entry.ts";
import { type AuditRows, BLOCK, blockOf } from "./rows.ts";

/** Blocks that one question reads at most; the answer says where to go on. */
const MAX_BLOCKS = 20;

export interface Question {
  limit: number;
  /** Only entries before this place. */
  before?: number | undefined;
  /** Only actions that begin with it. */
  action?: string | undefined;
  /** Only acts of this operator or agent. */
  actor?: string | undefined;
}

/** Entries, the newest first. `nextBefore`: where to go on, absent at the beginning of the log. */
export async function listEntries(
  rows: AuditRows,
  question: Question,
  signal: AbortSignal,
): Promise<{ entries: Entry[]; nextBefore?: number }> {
  const { limit, action, actor } = question;
  const [head, dropped] = [await rows.head(), await rows.checkpoint()];
  const entries: Entry[] = [];
  let before = Math.min(question.before ?? Number.POSITIVE_INFINITY, head.seq + 1);
  for (let read = 0; read < MAX_BLOCKS && before - 1 > dropped.seq; read++) {
    signal.throwIfAborted();
    const index = blockOf(before - 1);
    const block = (await rows.block(index)).filter(({ seq }) => seq < before).reverse();
    for (const entry of block) {
      if (entries.length === limit) return { entries, nextBefore: before };
      before = entry.seq;
      const fits = (action === undefined || entry.action.startsWith(action)) && (actor === undefined || entry.actor.id === actor);
      if (fits) entries.push(entry);
    }
    // Whatever is missing at the start of the block is no reason to read it again.
    before = Math.min(before, index * BLOCK);
  }
  return before - 1 > dropped.seq ? { entries, nextBefore: before } : { entries };
}

/** Result of a check of the chain. */
export interface Verdict {
  ok: boolean;
  /** Number of entries that were checked. */
  checked: number;
  /** The last entry that was dropped for its age; 0: none was. */
  from: number;
  head: Link;
  /** First place that does not fit. */
  problem?: { seq: number; reason: string };
}

/**
 * Follows the chain from the checkpoint, or from a later block, to its head.
 * @param known a place that somebody wrote down earlier: it has to be there still, unless it was dropped for its age
 */
export async function verifyChain(
  rows: AuditRows,
  { known, lastBlocks, signal }: { known?: Link | undefined; lastBlocks?: number; signal: AbortSignal },
): Promise<Verdict> {
  const [head, dropped] = [await rows.head(), await rows.checkpoint()];
  const first = Math.max(blockOf(dropped.seq + 1), lastBlocks === undefined ? 0 : blockOf(head.seq) - lastBlocks + 1);
  const isWhole = first === blockOf(dropped.seq + 1);
  let link: Link | undefined = isWhole ? dropped : undefined;
  let checked = 0;
  const verdict = (problem?: Verdict["problem"]): Verdict => {
    return { ok: problem === undefined, checked, from: dropped.seq, head, ...(problem ? { problem } : {}) };
  };
  for (let index = first; index <= blockOf(head.seq) && head.seq > 0; index++) {
    signal.throwIfAborted();
    await nextTurn();
    // Entries may be appended meanwhile; the head that was read is the end of this check.
    for (const entry of (await rows.block(index)).filter(({ seq }) => seq <= head.seq && seq > dropped.seq)) {
      const problem = problemOf(link, entry) ?? knownProblem(known, entry);
      if (problem !== undefined) return verdict({ seq: (link?.seq ?? entry.seq - 1) + 1, reason: problem });
      link = entry;
      checked += 1;
    }
  }
  const end = link ?? dropped;
  if (end.seq !== head.seq || end.hash !== head.hash)
    return verdict({ seq: end.seq + 1, reason: `the log ends here, but ${head.seq} entries were written` });
  if (known && known.seq > head.seq) return verdict({ seq: known.seq, reason: "the entry is not there any more" });
  return verdict();
}

function problemOf(before: Link | undefined, entry: Entry): string | undefined {
  if (!before) return undefined; // the first one of a partial check has nothing to be compared with
  if (entry.seq !== before.seq + 1) return `the entry is missing; the next one is ${entry.seq}`;
  return follows(before, entry) ? undefined : "the entry, or the one before it, was changed";
}

function knownProblem(known: Link | undefined, { seq, hash }: Entry): string | undefined {
  return known?.seq === seq && known.hash !== hash ? "the entry is not the one that was known" : undefined;
}
