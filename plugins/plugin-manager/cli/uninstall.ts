import { defineCommand } from "svc/sdk";
import { installErrors } from "../errors.ts";
import { uninstallPlugin } from "../install/uninstall.ts";
import { writeEntry } from "./config-entry.ts";

/** `svc plugins uninstall <id>`: switched off first, so that a running gateway lets go of it before its files go. */
export default defineCommand({
  path: ["plugins", "uninstall"],
  summary: "Remove an installed plugin, its record and its config entry",
  details: "Its own data (plugin-data/<id>) stays. Without --keep-config its entry under plugins.entries goes too.",
  options: {
    "keep-config": { kind: "flag", description: "Leave plugins.entries.<id> as it is, only disabled" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  positionals: [{ name: "id", required: true }],
  rpc: true,
  run: async (cli, values, [id = ""]) => {
    const installed = await cli.installedPlugins();
    if (!(await installed.read()).plugins[id]) throw installErrors.pluginNotRecorded({ plugin: id, hint: "see svc plugins list" });
    await writeEntry(cli, id, { enabled: false });
    const version = await uninstallPlugin({ installed, fileLock: cli.withFileLock }, id);
    if (values["keep-config"] !== true) await writeEntry(cli, id, null);
    if (cli.json) cli.stdout.json({ ok: true, plugin: { id, version } });
    else cli.stdout.line(`removed ${id} ${version}`);
    return 0;
  },
});
