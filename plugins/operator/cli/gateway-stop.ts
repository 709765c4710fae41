import { createInterface } from "node:readline/promises";
import { type CliContext, defineCommand } from "svc/sdk";
import { endOwner, findSupervision, isOwnedBy, waitUntilGone } from "../service/supervision.ts";

/** `svc gateway stop`: the service through its supervisor, and a gateway that none owns by a signal. */
export default defineCommand({
  path: ["gateway", "stop"],
  summary: "Stop the gateway gracefully",
  details:
    "A service is stopped by its supervisor, a gateway that no supervisor owns by SIGTERM. It first waits for active runs (gateway.shutdown.drainMs). On macOS a stopped agent stays off after the next login; to restart, use svc gateway restart.",
  options: {
    yes: { kind: "flag", description: "Do not ask" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  run: async (cli, values) => {
    const at = await findSupervision(cli);
    const [definition] = at.found;
    const owner = await cli.lockOwner();
    const state = definition && (await at.manager.state(definition));
    const isOurs = state !== undefined && owner !== undefined && isOwnedBy(state, owner.pid);
    // A service that is about to be started again is to be stopped too.
    const isActive = isOurs || state?.status === "running" || state?.status === "failed";
    if (!owner && !isActive) {
      if (cli.json) cli.stdout.json({ ok: true, status: "not-running", pid: null });
      else cli.stdout.line("No gateway is running here.");
      return 0;
    }
    if (!(await agrees(cli, values.yes === true, owner?.pid))) return 1;
    if (definition && isActive) {
      await at.manager.stop(definition);
      if (owner && isOurs && at.host.platform !== "win32") await waitUntilGone(cli, owner.pid);
    }
    const ended = await endOwner(cli);
    const pid = owner?.pid ?? ended ?? state?.pid ?? null;
    if (cli.json) cli.stdout.json({ ok: true, status: "stopped", pid, supervised: isOurs });
    else cli.stdout.line(`Stopped${pid === null ? "" : ` (pid ${pid})`}.`);
    return 0;
  },
});

/** Asks a person at a terminal; a script has decided already. */
async function agrees(cli: CliContext, isSure: boolean, pid: number | undefined): Promise<boolean> {
  if (isSure || cli.json || !cli.stdout.isTTY || !cli.stderr.isTTY) return true;
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const what = pid === undefined ? "the gateway" : `the gateway (pid ${pid})`;
    return /^y(es)?$/i.test((await ask.question(`Stop ${what}? [y/N] `, { signal: cli.signal })).trim());
  } finally {
    ask.close();
  }
}
