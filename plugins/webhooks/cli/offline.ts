import {
  type AgentInfo,
  type Agents,
  type CliContext,
  type CliLocal,
  type ContributionView,
  canonicalSessionKey,
  commonErrors,
  defaultAgentId,
  type HookPreset,
  type JsonObject,
  type Logger,
  mainSessionKey,
  type PluginContext,
  resolveAgents,
  type SvcConfig,
} from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import type { HooksConfig } from "../action.ts";
import type { MappingView } from "../mapping-view.ts";
import { openIngress } from "../open-ingress.ts";
import sections from "../sections.ts";
import { type Trial, type Tried, tryHook } from "../trial/try-hook.ts";

/** Hooks of this profile's config, looked at in this process: agents, deliveries and channels stay untouched. */
export interface Offline {
  readonly hooks: HooksConfig;
  /** Does a plugin bring this preset? */
  known(preset: string): boolean;
  views(signal: AbortSignal): Promise<{ mappings: MappingView[]; problems: string[] }>;
  try(trial: Trial, signal: AbortSignal): Promise<Tried>;
  close(): Promise<void>;
}

/** In the place of a secret that is kept elsewhere; of the form that every scheme takes. */
const UNASKED = `whsec_${Buffer.alloc(32).toString("base64")}`;

/** Questions the rules ask about agents; whether a model may be used only the gateway knows. */
type OfflineAgents = Pick<Agents, "list" | "resolve" | "checkModel">;

/**
 * Opens them while no gateway runs. Only plugins that bring a preset of the config are started.
 * @throws {SvcError} `invalid-config`, and `lock-held` when somebody else works on this state
 */
export async function openOffline(cli: CliContext): Promise<Offline> {
  const { valid, issues, config } = await cli.config();
  if (!valid) throw commonErrors.invalidConfig({ message: issues[0]?.text ?? "the config is not valid; see svc config validate" });
  const effective = (config as SvcConfig | undefined) ?? parseSharedConfig({});
  const hooks = effective.hooks ?? sections.hooks.parse(undefined);
  const bringers = hooks.presets.length > 0 ? await bringersOf(cli, hooks.presets) : [];
  const local = bringers.length > 0 ? await cli.local(bringers) : undefined;
  const presets = presetsOf(local);
  const ctx = contextOf(cli, agentsOf(effective, cli.paths.stateDir));
  const { secrets } = await (await cli.configFile()).load();
  // Secret providers are not asked here: the gateway reports whether a secret is available.
  const secretAt = (path: string) => ({ value: secrets.get(path) ?? UNASKED });
  return {
    hooks,
    known: (preset) => presets.get(preset) !== undefined,
    async views(signal) {
      const opened = await openIngress(ctx, hooks, { presets, signal });
      const { ingress, mappings, problems } = opened.finish(0, secretAt);
      ingress.dispose();
      return { mappings, problems };
    },
    try: (trial, signal) => tryHook(ctx, hooks, { trial, presets, signal }),
    close: async () => local?.close(),
  };
}

async function bringersOf(cli: CliContext, presets: readonly string[]): Promise<string[]> {
  const manifests = await (await cli.configFile()).manifests();
  return manifests.filter(({ contributes }) => contributes?.hookPresets?.some((id) => presets.includes(id))).map(({ id }) => id);
}

function presetsOf(local: CliLocal | undefined): Pick<ContributionView<HookPreset>, "get"> {
  return local ? local.contributions<HookPreset>("hookPreset") : { get: () => undefined };
}

function contextOf(cli: CliContext, agents: OfflineAgents): Pick<PluginContext, "logger" | "service" | "clock" | "env"> {
  const { configPath, stateDir } = cli.paths;
  const services: JsonObject = { "agents@1": agents, "gateway@1": { info: () => ({ configPath, stateDir }) }, "sandbox@1": cli.sandbox };
  return {
    logger: loggerTo(cli),
    env: cli.env,
    clock: { now: () => Date.now(), monotonic: () => performance.now() } as PluginContext["clock"],
    service(name) {
      if (!Object.hasOwn(services, name)) throw commonErrors.serviceUnavailable({ service: name });
      return services[name] as never;
    },
  };
}

/** Prints the output of a transform, which is what its author looks for here. */
function loggerTo(cli: CliContext): Logger {
  const say = (message: string) => cli.stderr.line(cli.color.dim(message));
  const logger: Logger = { trace: () => undefined, debug: () => undefined, info: say, warn: say, error: say, child: () => logger };
  return logger;
}

function agentsOf(config: SvcConfig, stateDir: string): OfflineAgents {
  const agents = resolveAgents(config, stateDir);
  const get = (id: string): AgentInfo => {
    const found = agents.find((agent) => agent.id === id.trim().toLowerCase());
    if (!found) throw commonErrors.unknownAgent({ agentId: id });
    return found;
  };
  return {
    list: () => agents,
    resolve({ agentId, sessionKey }) {
      const id = agentId === undefined ? defaultAgentId(config) : get(agentId).id;
      if (sessionKey === undefined) return { agentId: id, sessionKey: mainSessionKey(id) };
      const full = canonicalSessionKey(sessionKey, id, agentId !== undefined);
      return { agentId: get(full.agentId).id, sessionKey: full.key };
    },
    checkModel: async ({ model }) => model,
  };
}
