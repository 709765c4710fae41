import { commonErrors, defineCommand } from "svc/sdk";
import { formatConfigPath, parseConfigPath, resolveConfigPath, valueAt, withValueAt } from "svc/sdk/internal";
import { operatorErrors } from "../errors.ts";
import { editConfig, editOptions } from "./config-edit.ts";

/** `svc config unset`: takes one key or list member out of the file. */
export default defineCommand({
  path: ["config", "unset"],
  summary: "Remove one value from the config",
  details: "Its default applies then. Exits with 1 when the path is not set.",
  examples: [["The port is the default again", "svc config unset gateway.port"]],
  positionals: [{ name: "path", required: true }],
  options: { ...editOptions, replace: { kind: "flag", description: "Allow most of the file, or gateway.mode, to be removed" } },
  rpc: true,
  run: async (cli, values, [path = ""]) => {
    const steps = parseConfigPath(path);
    if (steps.length === 0) throw commonErrors.usage({ message: "config unset: expected a path" });
    return editConfig(cli, values, {
      replace: values.replace === true,
      apply(source) {
        const at = resolveConfigPath(source, steps);
        if (valueAt(source, at) === undefined)
          throw operatorErrors.configUnset({ path: formatConfigPath(at), note: "nothing was written" });
        return withValueAt(source, at, undefined);
      },
    });
  },
});
