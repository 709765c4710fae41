import type { OpResult } from "svc/sdk";
import type { CommitOutcome } from "./commit-queue.ts";
import { decodeDelivery } from "./delivery-rows.ts";
import type { PlainRefusal } from "./refusal.ts";
import { type Columns, decodeIdempotency, decodeRun, decodeSession } from "./rows.ts";

type Raw = { results: Array<Omit<OpResult, "known"> & { known?: Columns }> } | { refused: PlainRefusal };

/** Intervals of retries: events go with the next prompts, deliveries end. */
const retryMs: Partial<Record<string, number>> = { "system-events-full": 60_000, "deliveries-full": 5_000 };

/** Outcomes of a group as `apply_group` returns them; rows in results and refusals become those of the contract. */
export function decodeOutcomes(text: string): CommitOutcome[] {
  return (JSON.parse(text) as Raw[]).map((outcome) => {
    if ("refused" in outcome) return { refused: decodeRefusal(outcome.refused) };
    return {
      results: outcome.results.map(({ known, ...rest }) => (known ? { ...rest, known: decodeDelivery(known).row } : rest)),
    };
  });
}

function decodeRefusal({ code, fields: { row, ...fields } }: PlainRefusal): PlainRefusal {
  const found = row as Columns | null | undefined;
  const decoded = found ? decodeRow(found) : undefined;
  const retryAfterMs = retryMs[code];
  return { code, fields: decoded ? { ...fields, row: decoded } : fields, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** A row that is absent comes with its columns empty. */
function decodeRow(row: Columns): unknown {
  try {
    if (typeof row.uid === "string") return decodeDelivery(row).row;
    if (typeof row.run_id === "string") return decodeRun(row);
    if (typeof row.family === "string") return decodeIdempotency(row);
    if (typeof row.key === "string") return decodeSession(row);
  } catch {
    // A row that does not parse is named by its key in the message.
  }
  return undefined;
}
