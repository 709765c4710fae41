import { dirname, join } from "node:path";
import { defineCommand } from "svc/sdk";

/** `svc config types`: what editors and authors of plugins need to know about the config. */
export default defineCommand({
  path: ["config", "types"],
  summary: "Write svc-config.d.ts and svc.schema.json beside the config file",
  details: 'With "$schema": "./svc.schema.json" in the config an editor completes and checks it.',
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  run: async (cli) => {
    const file = await cli.configFile();
    const { dts, json } = await file.types();
    const paths = { types: join(dirname(file.path), "svc-config.d.ts"), schema: join(dirname(file.path), "svc.schema.json") };
    await cli.writeFile(paths.types, dts);
    await cli.writeFile(paths.schema, json);
    if (cli.json) cli.stdout.json({ ok: true, ...paths });
    else for (const path of Object.values(paths)) cli.stdout.line(path);
    return 0;
  },
});
