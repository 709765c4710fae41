import { type CliValues, commonErrors, type ParamsOf, parseDuration } from "svc/sdk";

type Patch = ParamsOf<"cron.update">["patch"];
type Delivery = NonNullable<Patch["delivery"]>;

/** Options that say what a job is; `add` and `edit` share them. */
export const jobOptions = {
  name: { kind: "string", description: "Name, for people", placeholder: "text" },
  at: { kind: "string", description: "Once, at this time with its zone", placeholder: "iso" },
  in: { kind: "string", description: "Once, after this time: 20m, 1h30m", placeholder: "duration" },
  every: { kind: "string", description: "Again and again: 15m, 1d", placeholder: "duration" },
  cron: { kind: "string", description: "At the times of a crontab: minute hour day month weekday", placeholder: "expr" },
  tz: { kind: "string", description: "Time zone of --cron", placeholder: "zone" },
  stagger: { kind: "string", description: "Spread --cron over this time", placeholder: "duration" },
  message: { kind: "string", description: "Message for the agent, in a session of its own", placeholder: "text" },
  event: { kind: "string", description: "Event for the agent's main session", placeholder: "text" },
  wake: { kind: "string", description: "When the main session reads it", choices: ["now", "next-heartbeat"] },
  agent: { kind: "string", description: "Agent; default: the default one", placeholder: "id" },
  model: { kind: "string", description: "Model of --message", placeholder: "provider/model" },
  thinking: { kind: "string", description: "Thinking of --message", choices: ["off", "minimal", "low", "medium", "high"] },
  "max-time": { kind: "integer", description: "Seconds that --message may take", min: 1, max: 86_400, placeholder: "s" },
  announce: { kind: "flag", description: "Send the answer, to the last place or to --channel and --to" },
  channel: { kind: "string", description: "Channel of the answer", placeholder: "id" },
  to: { kind: "string", description: "Recipient on that channel", placeholder: "id" },
  "best-effort": { kind: "flag", description: "An answer that no channel takes is no error" },
  once: { kind: "flag", description: "Remove the job once it has succeeded" },
} as const;

/** Parts of a job that the options name. @throws {SvcError} `usage` */
export function toPatch(values: CliValues, now: number): Patch {
  const schedule = toSchedule(values, now);
  const work = toWork(values);
  const delivery = toDelivery(values);
  const text = (name: string) => (typeof values[name] === "string" ? String(values[name]) : undefined);
  const [name, agentId, wake] = [text("name"), text("agent"), text("wake")];
  return {
    ...(name === undefined ? {} : { name }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(schedule === undefined ? {} : { schedule }),
    ...work,
    ...(wake === "now" || wake === "next-heartbeat" ? { wakeMode: wake } : {}),
    ...(delivery === undefined ? {} : { delivery }),
    ...(values.once === true ? { deleteAfterRun: true } : {}),
  };
}

function toSchedule({ at, in: after, every, cron, tz, stagger }: CliValues, now: number): Patch["schedule"] {
  if ([at, after, every, cron].filter((value) => value !== undefined).length > 1) throw usage("give one of --at, --in, --every and --cron");
  if ((tz !== undefined || stagger !== undefined) && cron === undefined) throw usage("--tz and --stagger are for --cron");
  if (typeof at === "string") return { kind: "at", at };
  if (typeof after === "string") return { kind: "at", at: new Date(now + durationOf(after, "--in")).toISOString() };
  if (typeof every === "string") return { kind: "every", everyMs: durationOf(every, "--every") };
  if (typeof cron !== "string") return undefined;
  const staggerMs = typeof stagger === "string" ? { staggerMs: durationOf(stagger, "--stagger") } : {};
  return { kind: "cron", expr: cron, ...(typeof tz === "string" ? { tz } : {}), ...staggerMs };
}

function durationOf(text: string, option: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw usage(`${option}: expected a duration such as 20m or 1h30m`);
  return Math.round(ms);
}

function toWork(values: CliValues): Pick<Patch, "payload" | "sessionTarget"> {
  const { message, event, model, thinking, "max-time": seconds } = values;
  if (message !== undefined && event !== undefined) throw usage("give --message or --event, not both");
  if (message === undefined && [model, thinking, seconds].some((value) => value !== undefined))
    throw usage("--model, --thinking and --max-time are for --message");
  if (typeof event === "string") return { sessionTarget: "main", payload: { kind: "systemEvent", text: event } };
  if (typeof message !== "string") return {};
  const level = (["off", "minimal", "low", "medium", "high"] as const).find((one) => one === thinking);
  const payload = {
    kind: "agentTurn" as const,
    message,
    ...(typeof model === "string" ? { model } : {}),
    ...(level === undefined ? {} : { thinking: level }),
    ...(typeof seconds === "number" ? { timeoutSeconds: seconds } : {}),
  };
  return { sessionTarget: "isolated", payload };
}

function toDelivery({ announce, channel, to, "best-effort": bestEffort }: CliValues): Delivery | undefined {
  const isWanted = announce === true || channel !== undefined || to !== undefined || bestEffort === true;
  if (!isWanted) return undefined;
  return {
    mode: "announce",
    ...(typeof channel === "string" ? { channel } : {}),
    ...(typeof to === "string" ? { to } : {}),
    ...(bestEffort === true ? { bestEffort: true } : {}),
  };
}

export function usage(message: string) {
  return commonErrors.usage({ message: `cron: ${message}` });
}
