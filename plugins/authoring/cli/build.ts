import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { defineCommand } from "svc/sdk";
import { errors } from "../errors.ts";
import { setTopLevel } from "../manifest-text.ts";

const MANIFEST = "svc.plugin.json";
const PROTOCOL = "svc.protocol.json";

/** `svc plugins build [dir]`: `configSchema` of the manifest and `svc.protocol.json` are what the code says. */
export default defineCommand({
  path: ["plugins", "build"],
  summary: "Write configSchema into a plugin's manifest from its code",
  details:
    "Runs the plugin's module. Comments and everything else in the manifest stay as they are. A schema that is right already is not touched.",
  options: {
    check: { kind: "flag", description: "Write nothing; exit code 1 when the manifest differs from the code" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  positionals: [{ name: "dir", required: false }],
  async run(cli, values, [dir = "."]) {
    const { configSchemaOf, inspectPlugin } = await import("svc/sdk/testing");
    const root = resolve(dir);
    const plugin = inspectPlugin(root);
    const manifest = await plugin.manifest();
    const hint = `run: svc plugins build ${dir}`;
    // Before the plugin's own module: discovery refuses the folder while the file that its manifest announces is missing or wrong.
    const protocol = await plugin.protocol();
    const protocolFile = join(root, PROTOCOL);
    const isStale = protocol !== undefined && (await readFile(protocolFile, "utf8").catch(() => undefined)) !== protocol;
    if (isStale && values.check === true) throw errors.protocolDrift({ plugin: manifest.id, hint });
    if (isStale) await cli.writeFile(protocolFile, protocol, { mode: 0o644 });
    const wanted = configSchemaOf(await plugin.definition());
    const drifted = !isDeepStrictEqual(manifest.configSchema, wanted);
    if (drifted && values.check === true) throw errors.configSchemaDrift({ plugin: manifest.id, hint });
    if (drifted) {
      const file = join(root, MANIFEST);
      await cli.writeFile(file, setTopLevel(await readFile(file, "utf8"), "configSchema", wanted), { mode: 0o644 });
    }
    if (cli.json) cli.stdout.json({ ok: true, plugin: manifest.id, written: drifted || isStale });
    else {
      cli.stdout.line(`${manifest.id}: configSchema ${drifted ? "written" : "is what the code says"}`);
      if (protocol !== undefined) cli.stdout.line(`${manifest.id}: ${PROTOCOL} ${isStale ? "written" : "is what the code says"}`);
    }
    return 0;
  },
});
