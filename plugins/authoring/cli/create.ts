import { readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { type CliContext, commonErrors, defineCommand } from "svc/sdk";
import { errors } from "../errors.ts";
import { linkHost } from "../host-link.ts";
import { isKind, kinds } from "../kinds.ts";
import { scaffold } from "../scaffold.ts";

const idPattern = /^[a-z][a-z0-9-]{1,47}$/;

/** `svc plugins create <id>`: a folder with a plugin that keeps the contract of its kind from the first minute. */
export default defineCommand({
  path: ["plugins", "create"],
  summary: "Create a new plugin in its own folder",
  details: [
    "Writes a manifest, TypeScript sources that run without a build step, a test that runs the contract of its kind, and what an editor needs.",
    "svc becomes a dependency on the folder of this installation, linked at once, so that nothing has to be downloaded to check types.",
  ].join("\n"),
  examples: [
    ["A tool for agents", "svc plugins create weather --kind tool"],
    ["A channel, in a folder of your choice", "svc plugins create channel-acme --kind channel --dir ~/src/acme"],
  ],
  options: {
    kind: { kind: "string", description: "What it adds to the gateway; default plain", choices: kinds },
    dir: { kind: "string", description: "Where to put it; default ./<id>", placeholder: "folder" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  positionals: [{ name: "id", required: true }],
  async run(cli, values, [id = ""]) {
    const { kind = "plain" } = values;
    if (!idPattern.test(id))
      throw commonErrors.usage({
        message: `plugins create: expected an id of 2 to 48 lower-case letters, digits or -, starting with a letter, got "${id}"`,
      });
    if (!isKind(kind)) throw commonErrors.usage({ message: `--kind: expected one of ${kinds.join(", ")}` });
    const folder = resolve(typeof values.dir === "string" ? values.dir : id);
    const there = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw commonErrors.usage({ message: `--dir: ${folder} is not a folder` }, { cause: error });
    });
    if (there.length > 0) throw errors.folderNotEmpty({ folder });
    const files = await scaffold({ id, kind, packageRoot: cli.paths.packageRoot, version: cli.version });
    for (const { path, text } of files) await cli.writeFile(join(folder, path), text, { mode: 0o644 });
    await linkHost(folder, cli.paths.packageRoot);
    if (cli.json) cli.stdout.json({ ok: true, id, kind, folder, files: files.map((f) => f.path) });
    else print(cli, { id, folder, paths: files.map((f) => f.path) });
    return 0;
  },
});

function print(cli: CliContext, made: { id: string; folder: string; paths: readonly string[] }): void {
  const shown = relative(process.cwd(), made.folder) || ".";
  cli.stdout.line(`${cli.color.green("created")} ${cli.color.bold(made.id)} in ${shown}`);
  for (const path of made.paths) cli.stdout.line(cli.color.dim(`  ${path}`));
  cli.stdout.line();
  cli.stdout.line("Next:");
  if (shown !== ".") cli.stdout.line(`  cd ${/^[\w./~-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`}`);
  cli.stdout.line("  svc plugins dev          # runs it in the gateway, reloads it at every edit");
  cli.stdout.line("  svc plugins validate     # the contract of plugins");
  cli.stdout.line("  npm install && npm test  # the whole contract and your own tests");
}
