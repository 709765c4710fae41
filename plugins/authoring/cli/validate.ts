import { resolve } from "node:path";
import { defineCommand } from "svc/sdk";

/** `svc plugins validate [dir]`: the quick statements of the plugin contract. */
export default defineCommand({
  path: ["plugins", "validate"],
  summary: "Check a plugin folder against the plugin contract",
  details: [
    "Reads the manifest, checks the trust gates, runs the plugin's module, compares configSchema with the config of the code, and loads the plugin",
    "once in a gateway of its own with a temporary state folder. No other plugin runs but the bundled ones that it requires. The whole contract",
    "(repeated lives, faults) is pluginContract of svc/sdk/testing.",
  ].join("\n"),
  examples: [["Check the plugin you are in", "svc plugins validate"]],
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  positionals: [{ name: "dir", required: false }],
  async run(cli, _values, [dir = "."]) {
    const { quickPluginCases, runCases } = await import("svc/sdk/testing");
    const root = resolve(dir);
    const results = await runCases(quickPluginCases(root));
    const failed = results.filter((r) => r.failure !== undefined);
    if (cli.json)
      cli.stdout.json({
        ok: failed.length === 0,
        plugin: root,
        checks: results.map(({ name, failure }) => ({ name, ok: failure === undefined, ...(failure ? { failure } : {}) })),
      });
    else {
      for (const { name, failure } of results) {
        cli.stdout.line(
          failure === undefined ? `${cli.color.green("ok")}   ${name}` : `${cli.color.red("fail")} ${name}\n     ${firstLine(failure)}`,
        );
      }
    }
    return failed.length === 0 ? 0 : 1;
  },
});

/** An assertion's message goes on with a picture of the difference, which is for test runners. */
function firstLine(text: string): string {
  return text.split("\n")[0] as string;
}
