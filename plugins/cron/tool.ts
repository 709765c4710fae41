import { isSvcError, type MessageRoute, type PluginContext, type Tool, type ToolCall, z } from "svc/sdk";
import type { CronPlugin } from "./cron.ts";
import { cronErrors } from "./errors.ts";
import { defined, type Job } from "./job.ts";
import type { NewJob } from "./jobs.ts";
import { listRuns } from "./lists.ts";
import { scheduleText } from "./schedule.ts";
import { timeTexts, toSchedule } from "./tool-times.ts";

/** Jobs at which an agent may add no more. */
const MAX_JOBS = 100;
const MAX_LISTED = 100;
const MAX_RUNS = 20;

const time = z.string().min(1).max(64).optional();
const input = z.strictObject({
  action: z.enum(["add", "list", "update", "remove", "run", "runs"]),
  id: z.string().min(1).max(64).optional().describe("The job; for update, remove, run and runs"),
  text: z
    .string()
    .min(1)
    .max(16_000)
    .optional()
    .describe("What you are to do or say then, as an instruction to yourself with all you need to know"),
  name: z.string().min(1).max(120).optional().describe("A short name for people"),
  at: time.describe("Once, at this time: 2026-03-01T09:00 on the clock of `tz`, or with a zone of its own"),
  in: time.describe("Once, after this time: 20m, 1h30m, 2d"),
  every: time.describe("Again and again: 15m, 1h, 1d; 60s at least"),
  cron: z.string().min(1).max(256).optional().describe("At the times of a crontab: minute hour day month weekday, such as 30 8 * * 1-5"),
  tz: z.string().min(1).max(64).optional().describe("IANA time zone of at and cron; default: that of the gateway"),
  enabled: z.boolean().optional().describe("For update: switch the job on or off"),
});
type Args = z.output<typeof input>;

/** The tool `cron`: reminders and recurring work that an agent plans for itself. */
export function cronTool(ctx: PluginContext, cron: CronPlugin): Tool<Args> {
  return {
    name: "cron",
    description:
      "Plans work for later: reminders (at or in) and recurring jobs (every or cron). At that time you get `text` in a session of its own, and your answer is sent to the person you are talking to now. Check the time in the result and tell it to the person.",
    input,
    async run(args, call) {
      const { action } = args;
      if (action === "list") return [...cron.scheduler.jobs].slice(0, MAX_LISTED).map((job) => shown(job));
      if (action === "runs") {
        const question = { ...defined({ id: args.id }), limit: MAX_RUNS };
        return listRuns(question, { jobs: cron.scheduler.jobs, rows: cron.rows, store: cron.store }, call.signal);
      }
      await checkCaller(call, cron);
      if (action === "add") return add(args, call, { ctx, cron });
      const id = idOf(args);
      if (action === "remove") return { removed: await cron.jobs.remove(id), id };
      if (action === "run") return cron.jobs.run(id, "force");
      return shown(await update(id, args, { ctx, cron, asker: askerOf(call) }), args.tz);
    },
  };
}

/** A job that plans jobs would have no end. @throws {SvcError} `cron-tool` */
async function checkCaller({ runId, sessionKey }: ToolCall, { store }: CronPlugin): Promise<void> {
  const trigger = (await store().runs.get(runId))?.trigger;
  if (trigger === "cron" || trigger === "heartbeat" || /^agent:[^:]+:cron:/.test(sessionKey))
    throw cronErrors.cronTool({
      reason: "jobs cannot be planned, changed or run from a job or a heartbeat; do it when a person asks for it",
    });
}

interface Parts {
  ctx: PluginContext;
  cron: CronPlugin;
}

/** A job has no more rights than the run that planned it. */
function askerOf({ origin }: ToolCall): Pick<Job, "origin"> {
  return origin === "operator" ? {} : { origin: "person" };
}

async function add(args: Args, call: ToolCall, { ctx, cron }: Parts) {
  const { sessionKey, agentId } = call;
  const { text, name, tz } = args;
  if (text === undefined) throw cronErrors.cronTool({ reason: "add: text is missing: what are you to do then?" });
  const schedule = toSchedule(args, ctx.clock.now());
  if (!schedule) throw cronErrors.cronTool({ reason: "add: the time is missing; give one of at, in, every and cron" });
  const route = await routeOf(sessionKey, ctx);
  const wanted: NewJob = {
    name: name ?? text.replace(/\s+/g, " ").slice(0, 80),
    agentId,
    schedule,
    ...askerOf(call),
    ...(schedule.kind === "at" ? { deleteAfterRun: true } : {}),
    sessionTarget: "isolated",
    wakeMode: "next-heartbeat",
    payload: { kind: "agentTurn", message: text },
    delivery: { mode: "announce", ...route },
  };
  const job = await cron.jobs.add(wanted, { max: MAX_JOBS });
  const answerGoesTo =
    route === undefined
      ? "the place where the person writes last, else a note in the main session"
      : [route.channel, route.to].filter(Boolean).join(" ");
  return { added: true, ...shown(job, tz), answerGoesTo };
}

/** Place of the conversation; a page in the browser is none. */
async function routeOf(sessionKey: string, ctx: PluginContext): Promise<MessageRoute | undefined> {
  try {
    const route = await ctx.service("messaging@1").lastRoute(sessionKey);
    if (!route || route.channel === "webchat") return undefined;
    const { channel, to, accountId, threadId } = route;
    return defined({ channel, to, accountId, threadId }) as MessageRoute;
  } catch (error) {
    if (isSvcError(error, "service-unavailable")) return undefined;
    throw error;
  }
}

async function update(id: string, args: Args, { ctx, cron, asker }: Parts & { asker: Pick<Job, "origin"> }): Promise<Job> {
  const { text, name, enabled } = args;
  const schedule = toSchedule(args, ctx.clock.now());
  if (!schedule && text === undefined && name === undefined && enabled === undefined)
    throw cronErrors.cronTool({ reason: "update: nothing to change; give text, name, enabled or a new time" });
  const { payload } = cron.jobs.get(id);
  if (asker.origin !== undefined && payload.kind === "systemEvent")
    throw cronErrors.cronTool({ reason: "update: the operator planned this job for the main session; only there it can be changed" });
  const changed = text === undefined ? undefined : payload.kind === "agentTurn" ? { ...payload, message: text } : { ...payload, text };
  return cron.jobs.update(id, { ...defined({ name, enabled, schedule, payload: changed }), ...asker });
}

/** @throws {SvcError} `cron-tool` */
function idOf({ action, id }: Args): string {
  if (id === undefined) throw cronErrors.cronTool({ reason: `${action}: id is missing; action list shows the jobs` });
  return id;
}

/** A job in the words of the model, its next time on the clock of its zone. */
function shown(job: Job, tz?: string) {
  const { id, name, enabled, schedule, state, payload } = job;
  const zone = tz ?? (schedule.kind === "cron" ? schedule.tz : undefined);
  const next = enabled && state.nextRunAtMs !== undefined ? timeTexts(state.nextRunAtMs, zone) : undefined;
  const text = (payload.kind === "agentTurn" ? payload.message : payload.text).slice(0, 200);
  return defined({
    id,
    name,
    enabled,
    schedule: scheduleText(schedule),
    next,
    text,
    lastStatus: state.lastStatus,
    lastError: state.lastError,
  });
}
