import { type CliContext, type CliValues, commonErrors, defineCommand, parseDuration } from "svc/sdk";
import { waitForReady } from "../service/ready.ts";
import { findSupervision, isInside, isOwnedBy, type Supervision } from "../service/supervision.ts";

/** Time a restarted gateway has to come back before this command gives up; active runs are waited for separately. */
const BACK_WITHIN_MS = 60_000;
const MAX_WAIT_MS = 3_600_000;

/** `svc gateway restart`: by the supervisor that owns the gateway, or by the gateway itself. */
export default defineCommand({
  path: ["gateway", "restart"],
  summary: "Restart the gateway gracefully",
  details:
    "An installed service is restarted by its supervisor, any other gateway restarts itself. It first waits for active runs: a service up to gateway.shutdown.drainMs, a gateway that restarts itself up to gateway.reload.deferralTimeoutMs. --wait, --force, --reason and --no-wait ask the gateway itself. Returns when it answers again.",
  examples: [
    ["After a change that needs it", "svc gateway restart"],
    ["With a minute for active runs", "svc gateway restart --wait 1m"],
  ],
  options: {
    reason: { kind: "string", description: "Reason to give to connected clients", placeholder: "text" },
    wait: { kind: "string", description: "Longest wait for active runs, such as 30s", placeholder: "duration" },
    force: { kind: "flag", description: "Do not wait for active runs" },
    "no-wait": { kind: "flag", description: "Return as soon as the restart is scheduled" },
    json: { kind: "flag", description: "Print the result as JSON" },
  },
  rpc: true,
  run: async (cli, values) => {
    const waitMs = waitOf(values);
    const isElsewhere = values.url !== undefined || (cli.env.SVC_GATEWAY_URL ?? "") !== "";
    const isForGateway = isElsewhere || waitMs !== undefined || values.reason !== undefined || values["no-wait"] === true;
    const at = isForGateway ? undefined : await supervised(cli);
    return at ? restartService(cli, at) : restartItself(cli, values, waitMs);
  },
});

/** @throws {SvcError} `usage` */
function waitOf({ wait, force }: CliValues): number | undefined {
  if (force === true && wait !== undefined) throw commonErrors.usage({ message: "gateway restart: --wait and --force exclude each other" });
  if (force === true) return 0;
  if (typeof wait !== "string") return undefined;
  const ms = parseDuration(wait);
  if (ms !== undefined && ms <= MAX_WAIT_MS) return ms;
  throw commonErrors.usage({ message: `gateway restart --wait: expected a duration of at most 1h such as 30s, got "${wait}"` });
}

/** The supervisor that has to do it: of the gateway that runs, or of the service when none runs. */
async function supervised(cli: CliContext): Promise<Supervision | undefined> {
  const at = await findSupervision(cli);
  const [definition] = at.found;
  if (!definition) return undefined;
  const owner = await cli.lockOwner();
  return !owner || isOwnedBy(await at.manager.state(definition), owner.pid) ? at : undefined;
}

async function restartService(cli: CliContext, at: Supervision): Promise<number> {
  const [definition] = at.found;
  if (!definition) return 1;
  // A gateway that runs is better than one that would be refused.
  await (await cli.configFile()).checkStart();
  const old = await cli.lockOwner();
  const fromInside = isInside(cli, at);
  // A task of Windows ends its processes at once: the gateway starts again by itself, once it has drained.
  if (old && at.host.platform === "win32") return restartItself(cli, {}, undefined);
  const since = Date.now();
  await at.manager.restart(definition, { fromInside });
  const port = definition.program?.port ?? (await cli.ports.ofNextStart()).port;
  const pid = fromInside ? undefined : (await waitForReady(cli, { port, since, oldPid: old?.pid })).pid;
  if (cli.json) cli.stdout.json({ ok: true, status: fromInside ? "scheduled" : "restarted", ...(pid === undefined ? {} : { pid }) });
  else cli.stdout.line(fromInside ? "Restart scheduled." : `Restarted (pid ${pid}).`);
  return 0;
}

async function restartItself(cli: CliContext, values: CliValues, waitMs: number | undefined): Promise<number> {
  const reason = typeof values.reason === "string" ? values.reason : "svc gateway restart";
  const scheduled = await cli.withClient(async (client) => {
    const gone = new Promise<void>((resolve) => client.on("shutdown", () => resolve()));
    const answer = await client.request("gateway.restart.request", { reason, ...(waitMs === undefined ? {} : { waitMs }) });
    if (values["no-wait"] !== true) await gone;
    return answer;
  });
  if (values["no-wait"] !== true) await backAgain(cli);
  if (cli.json) cli.stdout.json(scheduled);
  else cli.stdout.line(values["no-wait"] === true ? "Restart scheduled." : "Restarted.");
  return 0;
}

/** Connects until it works; the last failure is thrown when the time is over. */
async function backAgain(cli: CliContext): Promise<void> {
  const deadline = performance.now() + BACK_WITHIN_MS;
  for (;;) {
    try {
      return await cli.withClient(async () => undefined);
    } catch (error) {
      if (performance.now() > deadline || cli.signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
