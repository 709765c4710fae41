import { createHash } from "node:crypto";
import { isRecord } from "svc/sdk";
import { type CronJobRow, cronJobRow, type Tree } from "svc/sdk/internal";

/** Where a job comes to. */
export interface JobPlace {
  agents: ReadonlySet<string>;
  /** Agent of jobs that name none. */
  defaultAgent: string;
  /** Time of the import. */
  now: number;
}

/** Name of a foreign job, for people. */
export function jobName(job: Tree, i: number): string {
  const { name, id } = job;
  return (typeof name === "string" && name !== "" ? name : typeof id === "string" ? id : `job ${i + 1}`).replace(/\s+/g, " ").slice(0, 80);
}

/**
 * Turns a foreign job into one of svc, switched off: the other program may still run it. Its id stays the same from import to import.
 * @returns the reason when it cannot become one
 */
export function toJob(job: Tree, name: string, { agents, defaultAgent, now }: JobPlace): CronJobRow | string {
  const agentId = typeof job.agentId === "string" ? job.agentId.toLowerCase() : undefined;
  if (!agents.has(agentId ?? defaultAgent)) return `agent "${agentId ?? defaultAgent}" is not configured here`;
  const schedule = scheduleOf(job.schedule);
  if (schedule?.kind === "at" && !(Date.parse(String(schedule.at)) > now)) return "its time is past";
  const payload = isRecord(job.payload) ? job.payload : {};
  const delivery = deliveryOf(job, payload);
  if (delivery === "webhook") return "its answers go to a webhook, and those are not sent";
  const made = {
    id: idOf(job, name),
    name,
    enabled: false,
    schedule,
    createdAtMs: now,
    updatedAtMs: now,
    configRevision: 1,
    ...(agentId === undefined ? {} : { agentId }),
    ...(job.deleteAfterRun === true ? { deleteAfterRun: true } : {}),
    sessionTarget: job.sessionTarget,
    wakeMode: job.wakeMode === "now" ? "now" : "next-heartbeat",
    payload: pick(payload, payload.kind === "systemEvent" ? ["kind", "text"] : ["kind", "message", "model", "thinking", "timeoutSeconds"]),
    ...(delivery === undefined || job.sessionTarget !== "isolated" ? {} : { delivery }),
  };
  const isPair = (made.sessionTarget === "main") === (payload.kind === "systemEvent");
  if (!isPair) return "its work does not fit its session: the main one takes an event, one of its own a message";
  const parsed = cronJobRow.safeParse(made);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `${issue?.path.join(".") || "the job"}: ${issue?.message ?? "it cannot be read"}`;
}

function scheduleOf(value: unknown): Tree | undefined {
  if (!isRecord(value)) return undefined;
  const moment = value.at ?? value.atMs;
  if (value.kind === "at") {
    const at = typeof moment === "number" || typeof moment === "string" ? new Date(moment) : undefined;
    return { kind: "at", at: at && !Number.isNaN(at.getTime()) ? at.toISOString() : moment };
  }
  return value.kind === "every" ? pick(value, ["kind", "everyMs", "anchorMs"]) : pick(value, ["kind", "expr", "tz", "staggerMs"]);
}

/** Older jobs say in their payload where the answer goes. */
function deliveryOf(job: Tree, payload: Tree): Tree | "webhook" | undefined {
  const said = isRecord(job.delivery) ? job.delivery : payload.deliver === true ? { ...payload, mode: "announce" } : undefined;
  if (!said) return undefined;
  if (said.mode === "webhook") return "webhook";
  return said.mode === "announce" ? pick(said, ["mode", "channel", "to", "accountId", "threadId", "bestEffort"]) : { mode: "none" };
}

function pick(tree: Tree, keys: readonly string[]): Tree {
  return Object.fromEntries(keys.flatMap((key) => (tree[key] === undefined || tree[key] === null ? [] : [[key, tree[key]]])));
}

function idOf({ id }: Tree, name: string): string {
  if (typeof id === "string" && /^[\w-]{1,64}$/.test(id)) return id;
  return createHash("sha256")
    .update(`${String(id)}\n${name}`)
    .digest("hex")
    .slice(0, 32);
}
