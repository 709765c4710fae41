import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defineCommand } from "svc/sdk";
import { requireAllowed } from "../service/install.ts";
import { metadataPath } from "../service/metadata.ts";
import { endOwner, findSupervision, isOwnedBy, requireInstalled, waitUntilGone } from "../service/supervision.ts";

/** `svc gateway uninstall`: the gateway ends, and the supervisor forgets it; config and state stay. */
export default defineCommand({
  path: ["gateway", "uninstall"],
  summary: "Take the gateway from the system's supervisor",
  details: "Ends it gracefully and removes its definition. Config and state stay.",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  run: async (cli) => {
    const at = await findSupervision(cli);
    requireAllowed(cli, at, "uninstall");
    const definition = requireInstalled(cli, at, "uninstall");
    const owner = await cli.lockOwner();
    const isOurs = owner !== undefined && isOwnedBy(await at.manager.state(definition), owner.pid);
    const removed = await at.manager.uninstall(definition);
    if (owner && isOurs) {
      if (at.host.platform === "win32") await endOwner(cli);
      else await waitUntilGone(cli, owner.pid);
    }
    const own = [join(cli.paths.stateDir, "service", "gateway.env"), metadataPath(cli.paths.stateDir)];
    for (const path of own) await rm(path, { force: true });
    if (cli.json) cli.stdout.json({ ok: true, removed: [...removed, ...own] });
    else {
      cli.stdout.line(`Uninstalled: ${definition.path}`);
      if (owner && !isOurs) cli.stderr.line(`A gateway that no supervisor owns still runs (pid ${owner.pid}): svc gateway stop`);
    }
    return 0;
  },
});
