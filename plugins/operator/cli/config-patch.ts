import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { type CliContext, type CliValues, commonErrors, defineCommand, isRecord, messageOf } from "svc/sdk";
import { exceedsJsonShape } from "svc/sdk/internal";
import { editConfig, editOptions } from "./config-edit.ts";

/** `svc config patch`: several values at once, by a merge patch. */
export default defineCommand({
  path: ["config", "patch"],
  summary: "Change several values of the config by a JSON merge patch",
  details:
    "The patch is JSON5: null takes a key out, lists replace lists, and lists of objects with ids are merged by id. A list loses entries only when --replace-path names it.",
  examples: [
    ["From a file", "svc config patch --file change.json5"],
    ["From a pipe", "echo '{logging: {level: \"debug\"}}' | svc config patch --stdin"],
  ],
  options: {
    ...editOptions,
    file: { kind: "string", description: "File that holds the patch", placeholder: "path" },
    stdin: { kind: "flag", description: "Read the patch from standard input" },
    "replace-path": {
      kind: "string",
      description: "Lists that the patch replaces as a whole, separated by commas",
      placeholder: "paths",
    },
  },
  rpc: true,
  run: async (cli, values) => {
    const patch = await readPatch(cli, values);
    const named = values["replace-path"];
    const replacePaths = typeof named === "string" ? named.split(",").map((path) => path.trim()) : [];
    const file = await cli.configFile();
    return editConfig(cli, values, { apply: (source) => file.merge(source, patch, replacePaths), replace: replacePaths.length > 0 });
  },
});

async function readPatch(cli: CliContext, values: CliValues): Promise<unknown> {
  const { file, stdin } = values;
  if ((file === undefined) === (stdin !== true)) throw commonErrors.usage({ message: "config patch: expected one of --file and --stdin" });
  let patch: unknown;
  try {
    const text = typeof file === "string" ? await readFile(file, "utf8") : await readAll(process.stdin);
    patch = (await cli.configFile()).parse(text);
    if (exceedsJsonShape(patch, Number.POSITIVE_INFINITY)) throw new SyntaxError("nested deeper than 64 levels");
  } catch (error) {
    throw commonErrors.failed({
      message: `${typeof file === "string" ? file : "standard input"}: ${messageOf(error)}; nothing was written`,
    });
  }
  if (!isRecord(patch)) throw commonErrors.failed({ message: "config patch: a merge patch is an object; nothing was written" });
  return patch;
}
