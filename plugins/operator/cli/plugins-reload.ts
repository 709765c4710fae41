import { defineCommand } from "svc/sdk";

/** `svc plugins reload <id>…`: new instances from what stands on disk. */
export default defineCommand({
  path: ["plugins", "reload"],
  summary: "Reload plugins in the running gateway",
  details:
    "A new instance is created from the files on disk and takes over when it works; calls in progress finish on the old one. If it does not work, the old one keeps serving and the reason is shown. Exit code 1 when one of them failed.",
  positionals: [{ name: "id", required: true, rest: true }],
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli, _values, ids) => {
    const plugins = [...new Set(ids)].map((pluginId) => ({ pluginId }));
    const { results, restartRequired } = await cli.withClient((client) => client.request("plugins.reload", { plugins }));
    const failed = results.some((r) => r.status === "failed" || r.status === "rolled-back");
    if (cli.json) cli.stdout.json({ ok: !failed, results, restartRequired });
    else {
      for (const { id, status, error, ms } of results) {
        const line = `${id}: ${status}${error ? `: ${error}` : ""} (${ms} ms)`;
        cli.stdout.line(status === "failed" || status === "rolled-back" ? cli.color.red(line) : line);
      }
      if (restartRequired) cli.stdout.line("Some of it takes effect with the next start only: svc gateway restart");
    }
    return failed ? 1 : 0;
  },
});
