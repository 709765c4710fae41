import { access } from "node:fs/promises";
import { defineCommand } from "svc/sdk";

/** `svc config file`: where the config of this profile is. */
export default defineCommand({
  path: ["config", "file"],
  summary: "Print the path of the config file",
  options: { json: { kind: "flag", description: "One JSON document on stdout, with where the path comes from" } },
  run: async (cli) => {
    const { configPath: path, configPathSource: source } = cli.paths;
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (cli.json) cli.stdout.json({ ok: true, path, source, exists });
    else cli.stdout.line(path);
    return 0;
  },
});
