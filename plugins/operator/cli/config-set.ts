import { type CliConfigFile, type CliContext, type CliValues, commonErrors, defineCommand, isRecord, isSvcError } from "svc/sdk";
import {
  exceedsJsonShape,
  formatConfigPath,
  parseConfigPath,
  REDACTED_VALUE,
  resolveConfigPath,
  sameValue,
  valueAt,
  withValueAt,
} from "svc/sdk/internal";
import { editConfig, editOptions, guardEntries } from "./config-edit.ts";

/** `svc config set`: one value at one path. */
export default defineCommand({
  path: ["config", "set"],
  summary: "Set one value of the config",
  details:
    'The value is read as JSON5, and as plain text when it is none. Comments, key order and ${NAME} of the file stay as they are.\nA path: agents.list[0].model, agents.list[id=ops].model, models.providers["my.vendor"].apiKey',
  examples: [
    ["The port", "svc config set gateway.port 18790"],
    ["A secret from the environment", "svc config set gateway.auth.token --ref-source env --ref-id SVC_TOKEN"],
    ["Only if it has not changed meanwhile", "svc config set logging.level debug --expect '\"info\"'"],
  ],
  positionals: [
    { name: "path", required: true },
    { name: "value", required: false },
  ],
  options: {
    ...editOptions,
    json: { kind: "flag", description: "The value must be JSON; one JSON document on stdout" },
    merge: { kind: "flag", description: "Merge an object into the one that is there" },
    replace: { kind: "flag", description: "Allow list entries, or most of the file, to be removed" },
    "ref-source": { kind: "string", description: "Write a SecretRef: where the value comes from", choices: ["env", "file", "exec"] },
    "ref-provider": { kind: "string", description: "Provider of the SecretRef; default: default", placeholder: "name" },
    "ref-id": { kind: "string", description: "Id of the secret at its source", placeholder: "id" },
    expect: { kind: "string", description: "Write only if this is the present value (null: none)", placeholder: "json" },
  },
  rpc: true,
  run: async (cli, values, [path = "", given]) => {
    const steps = parseConfigPath(path);
    if (steps.length === 0) throw commonErrors.usage({ message: "config set: expected a path; svc config patch changes several values" });
    const file = await cli.configFile();
    const value = wanted(cli, values, { given, file });
    const replace = values.replace === true;
    return editConfig(cli, values, {
      replace,
      apply(source) {
        const at = resolveConfigPath(source, steps);
        const current = valueAt(source, at);
        if (typeof values.expect === "string") expectValue(file, current, { expected: strictJson("--expect", values.expect), path: at });
        const next = values.merge === true && isRecord(current) ? file.merge(current, value) : value;
        const after = withValueAt(source, at, next);
        if (!replace) guardEntries(source, after);
        return after;
      },
    });
  },
});

/** The value to write: a SecretRef from the flags, or the text of the command line. */
function wanted(cli: CliContext, values: CliValues, { given, file }: { given: string | undefined; file: CliConfigFile }): unknown {
  const { "ref-source": source, "ref-provider": provider = "default", "ref-id": id } = values;
  if (source !== undefined || id !== undefined) {
    if (given !== undefined) throw commonErrors.usage({ message: "config set: a value and --ref-source exclude each other" });
    if (source === undefined || id === undefined)
      throw commonErrors.usage({ message: "config set: --ref-source and --ref-id belong together" });
    return { source, provider, id };
  }
  if (given === undefined) throw commonErrors.usage({ message: "config set: expected a value, or --ref-source and --ref-id" });
  const value = cli.json ? strictJson("value", given) : looseValue(file, given);
  if (values.merge === true && !isRecord(value)) throw commonErrors.usage({ message: "config set: --merge needs an object" });
  return value;
}

function looseValue(file: CliConfigFile, text: string): unknown {
  try {
    return checkedDepth("value", file.parse(text));
  } catch (error) {
    if (isSvcError(error)) throw error;
    return text;
  }
}

function strictJson(what: string, text: string): unknown {
  try {
    return checkedDepth(what, JSON.parse(text));
  } catch (error) {
    if (isSvcError(error)) throw error;
    throw commonErrors.usage({ message: `config set: ${what}: expected JSON; put quotes around a text, as in '"text"'` });
  }
}

/** @throws {SvcError} `usage` for a value deeper than any config may be */
function checkedDepth(what: string, value: unknown): unknown {
  if (exceedsJsonShape(value, Number.POSITIVE_INFINITY))
    throw commonErrors.usage({ message: `config set: ${what}: nested too deeply; expected at most 64 levels` });
  return value;
}

function expectValue(
  file: CliConfigFile,
  current: unknown,
  { expected, path }: { expected: unknown; path: ReadonlyArray<string | number> },
): void {
  if (sameValue(current ?? null, expected)) return;
  // A wrong guess must not read a secret out.
  const shown = valueAt(file.redacted(withValueAt({}, path, current)), path);
  const found = current === undefined ? "is not set" : shown === REDACTED_VALUE ? "has another value" : `is ${JSON.stringify(shown)}`;
  throw commonErrors.failed({ message: `${formatConfigPath(path)} ${found}, not what --expect says; nothing was written` });
}
