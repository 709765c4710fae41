import { access } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { commonErrors, defineCommand } from "svc/sdk";
import { linkHost, withHostDependency } from "../host-link.ts";

/** `svc sdk link [dir]`: `svc/sdk`, `svc/sdk/client` and `svc/sdk/testing` of this installation become importable in a folder. */
export default defineCommand({
  path: ["sdk", "link"],
  summary: "Link svc/sdk of this installation into a folder",
  details: [
    "Writes the dependency on svc into package.json as a folder of this machine, which npm install keeps, and links node_modules/svc to it. Nothing is",
    "downloaded. Run it in the folder of a program that talks to the gateway, and in that of a plugin that came from another machine.",
  ].join("\n"),
  examples: [["In the folder of a program", "svc sdk link"]],
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  positionals: [{ name: "dir", required: false }],
  async run(cli, _values, [dir = "."]) {
    const folder = resolve(dir);
    await access(folder).catch((error: unknown) => {
      throw commonErrors.usage({ message: `sdk link: ${folder} is not there; expected a folder` }, { cause: error });
    });
    const { packageRoot } = cli.paths;
    const isPlugin = await access(join(folder, "svc.plugin.json")).then(
      () => true,
      () => false,
    );
    const text = await withHostDependency(join(folder, "package.json"), { packageRoot, isPlugin });
    if (text !== undefined) await cli.writeFile(join(folder, "package.json"), text, { mode: 0o644 });
    const isLinked = await linkHost(folder, packageRoot);
    if (cli.json) cli.stdout.json({ ok: true, folder, packageRoot, changed: text !== undefined, linked: isLinked });
    else cli.stdout.line(`svc in ${relative(process.cwd(), folder) || "."} is ${packageRoot}`);
    return 0;
  },
});
