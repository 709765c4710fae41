import { randomUUID } from "node:crypto";
import type { Kit } from "../kit.ts";
import type { Run } from "./run.ts";
import type { NewMessage } from "./writes.ts";

/** Columns that every row of a run has. */
export function blankRow(run: Run, kit: Pick<Kit, "ctx">): Pick<NewMessage, "id" | "sessionId" | "ts" | "runId"> {
  return { id: randomUUID(), sessionId: run.sessionId, ts: kit.ctx.clock.now(), runId: run.id };
}
