import { defineCommand } from "svc/sdk";

/** `svc config schema`: JSON Schema of the config file. */
export default defineCommand({
  path: ["config", "schema"],
  summary: "Print the JSON Schema of the config, plugins included",
  options: { json: { kind: "flag", description: "Report failures as JSON as well" } },
  rpc: true,
  run: async (cli, values) => {
    if (typeof values.url === "string") {
      const { schema } = await cli.withClient((client) => client.request("config.schema", {}));
      cli.stdout.json(schema);
    } else cli.stdout.json(await (await cli.configFile()).schema());
    return 0;
  },
});
