import { dirname, extname, join, resolve } from "node:path";
import {
  type CliCommand,
  type CliContext,
  commonErrors,
  defineCommand,
  type PluginCandidate,
  printableLine,
  type SvcConfig,
} from "svc/sdk";
import { hasGateway, isModelReference } from "svc/sdk/internal";
import { chosenAgents, openAccess } from "./access.ts";
import { createProgressBar } from "./progress-bar.ts";
import { interrupted } from "./run-index.ts";

const LOCAL = "local";
const INSTALL = "models runtime install";
/** Providers that need no adapter. */
const noAdapter = ["none"];

/** `svc memory provider set`: what embeds, with everything that it needs on this machine. */
export default defineCommand({
  path: ["memory", "provider", "set"],
  summary: "Choose what embeds notes, and install what it needs",
  details: [
    "With local, the runtime of models is installed, and the model is downloaded with its progress: a download that was cut goes on from where it was, and what",
    "came is checked by the size and SHA-256 that its server announces (and memorySearch.local.sha256). Only then is the config changed. The index is rebuilt in",
    "the background; searches go by words meanwhile. Without --agent it is set for all agents without a provider of their own.",
  ].join("\n"),
  examples: [
    ["Embed on this machine, no key needed", "svc memory provider set local"],
    ["With another model", "svc memory provider set local --model hf:owner/repo/model.gguf"],
    ["By words alone", "svc memory provider set none"],
  ],
  positionals: [{ name: "provider", required: true }],
  options: {
    model: {
      kind: "string",
      description: "local: a GGUF file, an hf: reference or an address; becomes memorySearch.local.modelPath",
      placeholder: "model",
    },
    agent: { kind: "string", description: "Only this agent", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values, [provider = ""]) => {
    const model = typeof values.model === "string" ? modelOf(values.model) : undefined;
    await checkProvider(cli, provider, model);
    if (provider === LOCAL) await installRuntime(cli);
    const agentId = await prepare(cli, { provider, model, agent: values.agent });
    const isRunning = await hasGateway(cli);
    const path = await write(cli, { provider, model, agentId: typeof values.agent === "string" ? agentId : undefined, isRunning });
    if (cli.json) cli.stdout.json({ ok: true, provider, path, indexing: isRunning });
    else tell(cli, { provider, path, isRunning });
    return 0;
  },
});

/** A path as it is meant where it is typed; the config would read it from the state directory. */
function modelOf(typed: string): string {
  return isModelReference(typed) || typed.startsWith("~") ? typed : resolve(typed);
}

interface Choice {
  provider: string;
  model: string | undefined;
}

async function checkProvider(cli: CliContext, provider: string, model: string | undefined): Promise<void> {
  const manifests = await (await cli.configFile()).manifests();
  const adapters = [...new Set(manifests.flatMap(({ contributes }) => contributes?.embeddingAdapters ?? []))].sort();
  const known = [...adapters, ...noAdapter];
  if (!known.includes(provider))
    throw commonErrors.usage({ message: `memory provider set: expected one of ${known.join(", ")}, got "${provider}"` });
  if (model !== undefined && provider !== LOCAL)
    throw commonErrors.usage({ message: "memory provider set: --model is for local; set that of another provider by memorySearch.model" });
}

/** Runs the command of another plugin that installs the runtime; its words go to stderr. */
async function installRuntime(cli: CliContext): Promise<void> {
  if ((await cli.target()).portSource === "remote") return; // the machine of the gateway is another one; it says what is missing there
  const command = await commandOf(cli, INSTALL);
  const line = (text?: string) => cli.stderr.line(text);
  const stdout = { ...cli.stdout, line, write: (text: string) => cli.stderr.write(text) };
  await command.run({ ...cli, json: false, stdout }, {}, []);
}

/** @throws {SvcError} `failed` where no plugin has such a command */
async function commandOf(cli: CliContext, name: string): Promise<CliCommand> {
  const owner = (await cli.candidates()).find(({ manifest }) => manifest?.cli?.some((one) => one.name === name));
  const entry = owner?.manifest?.cli?.find((one) => one.name === name);
  const exported = owner && entry ? await cli.importPlugin(modulePath(owner, entry.module)) : undefined;
  const found = ([exported].flat() as Array<CliCommand | undefined>).find((command) => command?.path.join(" ") === name);
  if (found) return found;
  throw commonErrors.failed({ message: `no plugin has the command svc ${name}; enable plugin-manager` });
}

/** Compiled modules stand beside the compiled entry of their plugin. */
function modulePath({ root, entry }: PluginCandidate, module: string): string {
  return entry === undefined ? join(root, module) : join(dirname(entry), module.replace(/\.[a-z]+$/, extname(entry)));
}

/** @returns the agent whose settings count */
async function prepare(cli: CliContext, { provider, model, agent }: Choice & { agent: unknown }): Promise<string> {
  const access = await openAccess(cli);
  const bar = createProgressBar(cli, provider);
  let tenth = -1;
  try {
    const agentId = agent === undefined ? access.agents.default : (chosenAgents(access, agent)[0] ?? access.agents.default);
    if (noAdapter.includes(provider)) return agentId;
    const work = access.prepare(agentId, {
      provider,
      modelPath: model,
      signal: cli.signal,
      onProgress(progress) {
        bar.show(progress);
        const now = progress.total === 0 ? -1 : Math.floor((progress.done * 10) / progress.total);
        if (!cli.stderr.isTTY && now > tenth) cli.stderr.line(`downloading the model: ${now * 10} % of ${megabytes(progress.total)}`);
        tenth = Math.max(tenth, now);
      },
    });
    work.catch(() => undefined);
    await Promise.race([work, interrupted(cli.signal)]);
    return agentId;
  } finally {
    bar.clear();
    await access.close();
  }
}

/** Writes the choice; model, length and key of another provider go or stay unused. @returns the path that was written */
async function write(
  cli: CliContext,
  { provider, model, agentId, isRunning }: Choice & { agentId: string | undefined; isRunning: boolean },
): Promise<string> {
  const file = await cli.configFile();
  const path = agentId === undefined ? "agents.defaults.memorySearch" : `agents.list[id=${agentId}].memorySearch`;
  const before = ((await cli.config()).config as SvcConfig | undefined)?.agents;
  const own = agentId === undefined ? before?.defaults.memorySearch : before?.list.find(({ id }) => id === agentId)?.memorySearch;
  const isOther = own?.provider !== provider;
  const memorySearch = {
    provider,
    ...(isOther && own?.model !== undefined ? { model: null } : {}),
    ...(isOther && own?.outputDimensionality !== undefined ? { outputDimensionality: null } : {}),
    ...(model === undefined ? {} : { local: { modelPath: model } }),
  };
  const agents = agentId === undefined ? { defaults: { memorySearch } } : { list: [{ id: agentId, memorySearch }] };
  if (isRunning) await cli.withClient(async (client) => patchOverGateway(client, { agents }));
  else await file.write({ kind: "edit", apply: (source) => file.merge(source, { agents }) }, {});
  return path;
}

async function patchOverGateway(client: Awaited<ReturnType<CliContext["connect"]>>, patch: object): Promise<void> {
  const { hash } = await client.request("config.get", {});
  await client.request("config.patch", { raw: JSON.stringify(patch), baseHash: hash });
}

function tell(cli: CliContext, { provider, path, isRunning }: { provider: string; path: string; isRunning: boolean }): void {
  cli.stdout.line(printableLine(`${path}.provider: ${provider}`));
  cli.stdout.line(
    isRunning
      ? "The index is rebuilt in the background, and searches go by words meanwhile: svc memory status"
      : "The index is rebuilt when the gateway starts, or by: svc memory index",
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}
