import type { AgentInfo, MessageRow, RunRequest, RunRow } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import type { ModelRef } from "../models/choice.ts";
import { contextOf } from "../sessions/sender.ts";
import { narrowedTools, originOf } from "../tools/operator-tools.ts";
import { type AcceptOptions, acceptRun, changeFor, checkRoom, tellAccepted } from "./accept.ts";
import { queueModeOf } from "./queue.ts";
import { Run } from "./run.ts";
import { patchOp, runRow } from "./writes.ts";

/** Rows read at a time when a message is looked for. */
const PAGE_ROWS = 400;

interface Revival {
  request: RunRequest & { runId: string };
  options: AcceptOptions;
}

/**
 * Takes a run on once more, under its id and in its transcript, which goes on where it broke off: the message and the results of tools are there.
 * @throws {SvcError} see `Agents.run`
 */
export async function reviveRun(row: RunRow, { request, options }: Revival, kit: Kit): Promise<Run> {
  // Its transcript was deleted meanwhile: all that is left of it is its id.
  const found = await rowsOf(row, kit);
  if (!found) return acceptRun(request, { ...options, cutOff: row }, kit);
  const agent = kit.directory.get(row.agentId);
  const model = request.model === undefined ? undefined : await kit.models.check(agent, request.model);
  const context = found.map(contextOf).find((line) => line !== undefined);
  return kit.sessionLock.run(row.sessionKey, () => commitRevived(row, { request, options, agent, model, context }, kit));
}

async function commitRevived(
  row: RunRow,
  { request, options, agent, model, context }: Revival & { agent: AgentInfo; model: ModelRef | undefined; context: string | undefined },
  kit: Kit,
): Promise<Run> {
  const { sessionKey, sessionId } = row;
  const session = await kit.store().sessions.get(sessionKey);
  const mode = queueModeOf(kit, session, { request, isChat: options.family === "chat" });
  checkRoom(kit, sessionKey, mode);
  const origin = originOf({ request, session: session ?? { key: sessionKey, kind: "unknown" }, events: [] });
  const tools = narrowedTools(request, origin);
  const run = new Run({
    id: row.runId,
    agent,
    sessionKey,
    sessionId,
    request: { ...request, ...(tools ? { tools } : {}) },
    family: options.family,
    model,
    mode,
    spawnedBy: session?.spawnedBy,
    acceptedAt: row.createdAt,
    arrivedAt: kit.ctx.clock.monotonic(),
    origin,
  });
  run.context = context;
  const isBusy = runsOf(kit, sessionKey).some((other) => other.phase !== "queued");
  // A session that has moved on to another transcript, or is gone, is none of this run's any more.
  const own = session?.sessionId === sessionId ? session : undefined;
  const change = own && patchOp(sessionKey, changeFor(run, own, { now: kit.ctx.clock.now(), label: undefined, isBusy }), sessionId);
  await kit.store().commit([...(change ? [change] : []), { op: "run.put", run: runRow(run, kit, "queued"), ifState: [row.state] }]);
  await tellAccepted(run, kit, { before: session, fresh: undefined, stored: [] });
  return run;
}

/** Newest records of the run in its transcript; undefined when it holds none. Its message and its row were one commit, so one record proves that the message is there. */
async function rowsOf({ runId, sessionId, createdAt }: RunRow, kit: Pick<Kit, "store">): Promise<MessageRow[] | undefined> {
  for (let before: number | undefined; ; ) {
    const rows = await kit.store().messages.page(sessionId, { limit: PAGE_ROWS, ...(before === undefined ? {} : { before }) });
    const own = rows.filter((message) => message.runId === runId);
    if (own.length > 0) return own;
    const oldest = rows[0];
    if (!oldest || oldest.seq <= 1 || oldest.ts < createdAt) return undefined;
    before = oldest.seq;
  }
}
