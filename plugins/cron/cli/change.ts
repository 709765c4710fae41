import { type CliClient, type CliContext, type CliValues, defineCommand, printableLine } from "svc/sdk";
import { jobOptions, toPatch, usage } from "./options.ts";
import { findId, json, timeText, type WireJob } from "./text.ts";

const positionals = [{ name: "id", required: true }];

const add = defineCommand({
  path: ["cron", "add"],
  summary: "Add a job",
  details:
    "A job has a time (--at, --in, --every or --cron) and work: --message runs the agent in a session of its own, --event tells its main session.",
  examples: [
    [
      "A report on weekdays",
      'svc cron add --name Report --cron "30 8 * * 1-5" --tz Europe/Berlin --message "Sum up what is new." --announce',
    ],
    ["A reminder", 'svc cron add --in 20m --message "Remind me of the oven." --announce --once'],
  ],
  options: { ...jobOptions, disabled: { kind: "flag", description: "Add it switched off" }, json },
  rpc: true,
  run: runAdd,
});

const edit = defineCommand({
  path: ["cron", "edit"],
  summary: "Change a job",
  details: "Only what is given changes. An id may be shortened, or be the name of the job.",
  positionals,
  options: { ...jobOptions, quiet: { kind: "flag", description: "Send the answer nowhere" }, json },
  rpc: true,
  run: runEdit,
});

const remove = defineCommand({
  path: ["cron", "rm"],
  summary: "Remove a job",
  positionals,
  options: { json },
  rpc: true,
  run: (cli, _values, [typed = ""]) =>
    cli.withClient(async (client) => {
      const id = await findId(client, typed);
      const answer = await client.request("cron.remove", { id });
      if (cli.json) cli.stdout.json({ ...answer, id });
      else cli.stdout.line(`Removed: ${id}`);
      return 0;
    }),
});

const enable = defineCommand({
  path: ["cron", "enable"],
  summary: "Switch a job on",
  positionals,
  options: { json },
  rpc: true,
  run: (cli, _values, [typed = ""]) => cli.withClient((client) => change(cli, client, typed, { enabled: true })),
});

const disable = defineCommand({
  path: ["cron", "disable"],
  summary: "Switch a job off",
  positionals,
  options: { json },
  rpc: true,
  run: (cli, _values, [typed = ""]) => cli.withClient((client) => change(cli, client, typed, { enabled: false })),
});

const run = defineCommand({
  path: ["cron", "run"],
  summary: "Run a job now",
  positionals,
  options: { due: { kind: "flag", description: "Only when it is due" }, json },
  rpc: true,
  run: (cli, { due }, [typed = ""]) =>
    cli.withClient(async (client) => {
      const id = await findId(client, typed);
      const answer = await client.request("cron.run", { id, mode: due === true ? "due" : "force" });
      const began = "runId" in answer;
      if (cli.json) cli.stdout.json({ ...answer, id });
      else
        cli.stdout.line(
          began ? `It runs: ${answer.runId} (svc cron runs ${id.slice(0, 8)})` : `Not run: ${"reason" in answer ? answer.reason : ""}`,
        );
      return began ? 0 : 1;
    }),
});

export default [add, edit, remove, enable, disable, run];

function runAdd(cli: CliContext, values: CliValues): Promise<number> {
  const { name, schedule, payload, sessionTarget, wakeMode = "now", agentId, delivery, deleteAfterRun } = toPatch(values, Date.now());
  if (!schedule) throw usage("when? give one of --at, --in, --every and --cron");
  if (!payload || !sessionTarget) throw usage("what? give --message or --event");
  const text = payload.kind === "agentTurn" ? payload.message : payload.text;
  const job = {
    name: name ?? printableLine(text).slice(0, 80),
    schedule,
    payload,
    sessionTarget,
    wakeMode,
    ...(agentId ? { agentId } : {}),
    ...(delivery ? { delivery } : {}),
    ...(deleteAfterRun ? { deleteAfterRun } : {}),
    ...(values.disabled === true ? { enabled: false } : {}),
  };
  return cli.withClient(async (client) => {
    show(cli, await client.request("cron.add", job), "Added");
    return 0;
  });
}

function runEdit(cli: CliContext, values: CliValues, [typed = ""]: string[]): Promise<number> {
  const patch = { ...toPatch(values, Date.now()), ...(values.quiet === true ? { delivery: null } : {}) };
  if (values.quiet === true && (values.announce === true || values.channel !== undefined || values.to !== undefined))
    throw usage("--quiet goes with neither --announce, --channel nor --to");
  if (Object.keys(patch).length === 0) throw usage("nothing to change; see svc cron edit --help");
  return cli.withClient((client) => change(cli, client, typed, patch));
}

async function change(cli: CliContext, client: CliClient, typed: string, patch: ReturnType<typeof toPatch>): Promise<number> {
  const id = await findId(client, typed);
  show(cli, await client.request("cron.update", { id, patch }), "Changed");
  return 0;
}

function show(cli: CliContext, job: WireJob, what: string): void {
  if (cli.json) return cli.stdout.json({ ok: true, job });
  const next = !job.enabled ? "off" : job.nextRunAtMs === undefined ? "never" : timeText(job.nextRunAtMs);
  cli.stdout.line(`${what}: ${job.id}  ${printableLine(job.name)}  next: ${next}`);
}
