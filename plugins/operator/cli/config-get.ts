import { type CliContext, type CliValues, defineCommand, type SvcError } from "svc/sdk";
import { formatConfigPath, formatIssue, parseConfigPath, resolveConfigPath, valueAt } from "svc/sdk/internal";
import { operatorErrors } from "../errors.ts";

interface Trees {
  /** As written, and with defaults; secrets replaced. */
  source: unknown;
  effective: unknown;
}

/** `svc config get`: a value as it is written, or as it is used. */
export default defineCommand({
  path: ["config", "get"],
  summary: "Show a value of the config, secrets hidden",
  details: "As written in the file; with --effective as the gateway uses it, defaults included. Exits with 1 when it is not set.",
  examples: [
    ["One value", "svc config get gateway.port --effective"],
    ["One agent", "svc config get 'agents.list[id=ops]'"],
  ],
  positionals: [{ name: "path", required: false }],
  options: {
    effective: { kind: "flag", description: "With variables and defaults applied" },
    json: { kind: "flag", description: "The value as JSON" },
  },
  rpc: true,
  run: async (cli, values, [path = ""]) => {
    const steps = parseConfigPath(path);
    const { source, effective } = await trees(cli, values);
    const tree = values.effective === true ? effective : source;
    const at = resolveConfigPath(tree, steps);
    let value = valueAt(tree, at);
    if (value === undefined) {
      // Some defaults are applied by whoever reads the key; the schema knows them too.
      const key = await (await cli.configFile()).keySchema(formatConfigPath(at));
      if (key?.notInRelease === true)
        throw operatorErrors.configUnset({ path: formatConfigPath(at), note: "it is not part of this release" });
      const used = valueAt(effective, at) ?? key?.default;
      if (values.effective !== true || used === undefined) throw unset(formatConfigPath(at), used);
      value = used;
    }
    if (cli.json) cli.stdout.json(value);
    else cli.stdout.line(typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : String(value));
    return 0;
  },
});

/** The file of this machine is read here, which is what a gateway on it would do too; only another one's is asked for. */
async function trees(cli: CliContext, values: CliValues): Promise<Trees> {
  if (typeof values.url === "string") {
    const { parsed, config } = await cli.withClient((client) => client.request("config.get", {}));
    return { source: parsed, effective: config };
  }
  const file = await cli.configFile();
  const loaded = await file.load();
  const wanted = values.effective === true ? loaded.config : loaded.source;
  if (wanted === undefined) {
    throw operatorErrors.configNotValid({ file: file.path, hint: loaded.issues.map(formatIssue).join("\n") });
  }
  return { source: file.redacted(loaded.source, loaded), effective: file.redacted(loaded.config, loaded) };
}

function unset(path: string, used: unknown): SvcError {
  return operatorErrors.configUnset({ path, note: used === undefined ? "it has no default" : `the default is ${JSON.stringify(used)}` });
}
