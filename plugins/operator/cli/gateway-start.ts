import { defineCommand } from "svc/sdk";
import { errors } from "../service/errors.ts";
import { waitForReady } from "../service/ready.ts";
import { commandFor, findSupervision, isOwnedBy, requireInstalled } from "../service/supervision.ts";

/** `svc gateway start`: the installed service; `svc gateway` without a word starts one in the foreground. */
export default defineCommand({
  path: ["gateway", "start"],
  summary: "Start the installed gateway service",
  details: "Returns when the gateway is ready, after 30 s at the latest. In the foreground a gateway is started with: svc gateway",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  run: async (cli) => {
    const at = await findSupervision(cli);
    const definition = requireInstalled(cli, at, "start");
    const owner = await cli.lockOwner();
    if (owner) {
      if (!isOwnedBy(await at.manager.state(definition), owner.pid)) {
        throw errors.gatewayUnsupervised({ pid: owner.pid, command: commandFor(cli, "gateway stop") });
      }
      if (cli.json) cli.stdout.json({ ok: true, status: "already-running", pid: owner.pid });
      else cli.stdout.line(`already running (pid ${owner.pid})`);
      return 0;
    }
    const since = Date.now();
    await at.manager.start(definition);
    const port = definition.program?.port ?? (await cli.ports.ofNextStart()).port;
    const { pid } = await waitForReady(cli, { port, since });
    if (cli.json) cli.stdout.json({ ok: true, status: "started", pid, port });
    else cli.stdout.line(`Started: ${at.manager.label} (pid ${pid}, port ${port})`);
    return 0;
  },
});
