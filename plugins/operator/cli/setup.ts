import { randomBytes } from "node:crypto";
import { access, cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type CliContext, type CliValues, commonErrors, defineCommand, type JsonObject } from "svc/sdk";
import { makePrivate } from "svc/sdk/internal";

/** `svc setup`: a config with which the gateway starts, and something to ask about. Never overwrites anything. */
export default defineCommand({
  path: ["setup"],
  summary: "Write a first config, a token and example notes",
  details: "Asks nothing. An existing config or workspace is never changed.",
  examples: [["What npm start does first", "svc setup --non-interactive --if-missing"]],
  options: {
    "non-interactive": { kind: "flag", description: "Accepted for scripts; setup asks nothing" },
    "if-missing": { kind: "flag", description: "Succeed without doing anything when a config exists" },
    workspace: {
      kind: "string",
      description: "Folder of the agent's notes; default <state dir>/workspace with examples in it",
      placeholder: "path",
    },
    bind: { kind: "string", description: "Where the gateway listens", choices: ["loopback", "lan", "tailnet", "auto"] },
    port: { kind: "integer", description: "Port of the gateway", min: 1, max: 65_535, placeholder: "n" },
    "then-start": { kind: "flag", description: "Print no next step, because a start follows", hidden: true },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  run: async (cli, values) => {
    const { configPath, stateDir } = cli.paths;
    if ((await cli.config()).exists) return keep(cli, values);
    const secret = secretSource(cli);
    const raw = `${JSON.stringify(firstConfig(values, secret), null, 2)}\n`;
    await (await cli.configFile()).write({ kind: "replace", raw });
    const workspace = typeof values.workspace === "string" ? resolve(values.workspace) : join(stateDir, "workspace");
    const notes = values.workspace === undefined ? await copyExamples(join(cli.paths.packageRoot, "examples/workspace"), workspace) : 0;
    report(cli, { config: configPath, secret, workspace, notes }, values["then-start"] !== true);
    return 0;
  },
});

function keep(cli: CliContext, values: CliValues): number {
  const { configPath } = cli.paths;
  if (values["if-missing"] !== true) {
    throw commonErrors.failed({ message: `${configPath} exists and was not changed; edit it, or move it away to start over` });
  }
  if (cli.json) cli.stdout.json({ ok: true, changed: false, config: configPath });
  else cli.stdout.line(`Already set up: ${configPath}`);
  return 0;
}

type SecretSource = "generated" | "SVC_GATEWAY_TOKEN" | "SVC_GATEWAY_PASSWORD";

/** A secret that the environment brings must not be shadowed by one in the file, which would win. */
function secretSource(cli: CliContext): SecretSource {
  const set = (name: string) => (cli.env[name]?.trim() ?? "") !== "";
  if (set("SVC_GATEWAY_TOKEN")) return "SVC_GATEWAY_TOKEN";
  return set("SVC_GATEWAY_PASSWORD") ? "SVC_GATEWAY_PASSWORD" : "generated";
}

/** `gateway.mode` stands first: a gateway without it refuses to start. */
function firstConfig(values: CliValues, secret: SecretSource): JsonObject {
  const gateway = {
    mode: "local",
    ...(values.port === undefined ? {} : { port: values.port }),
    ...(values.bind === undefined ? {} : { bind: values.bind }),
    ...(secret === "generated" ? { auth: { token: randomBytes(32).toString("base64url") } } : {}),
  };
  const { workspace } = values;
  return { gateway, ...(typeof workspace === "string" ? { agents: { defaults: { workspace: resolve(workspace) } } } : {}) };
}

/** Appears whole or not at all: copied beside its place and renamed. Returns the number of files. */
async function copyExamples(from: string, to: string): Promise<number> {
  if ((await exists(to)) || !(await exists(from))) return 0;
  const temp = `${to}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await cp(from, temp, { recursive: true });
    await makePrivate(temp);
    await rename(temp, to);
  } catch (error) {
    await rm(temp, { recursive: true, force: true });
    throw error;
  }
  return (await readdir(to, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

interface Done {
  config: string;
  secret: SecretSource;
  workspace: string;
  notes: number;
}

function report(cli: CliContext, done: Done, namesNextStep: boolean): void {
  if (cli.json) {
    cli.stdout.json({ ok: true, changed: true, ...done });
    return;
  }
  const secret = done.secret === "generated" ? "a fresh token is in it" : `the secret comes from ${done.secret}`;
  cli.stdout.line(`Config:    ${done.config} (gateway.mode is local; ${secret})`);
  cli.stdout.line(`Workspace: ${done.workspace}${done.notes > 0 ? ` (${done.notes} example notes)` : ""}`);
  if (namesNextStep) cli.stdout.line(`Next:      svc ${cli.paths.profile ? `--profile ${cli.paths.profile} ` : ""}gateway`);
}
