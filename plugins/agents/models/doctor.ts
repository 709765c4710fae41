import { agentSetting, type DoctorFinding } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { ModelState, ProviderState, SkippedProvider } from "./states.ts";

/** Checks of `svc doctor` (`models/*`): every server is asked, a few seconds at most. */
export function registerModelDoctor(kit: Kit): void {
  kit.ctx.on("doctor.collect", async (_event, meta) => {
    await kit.catalog.ready();
    await kit.modelStates.refresh("all");
    for (const one of modelFindings(gather(kit))) meta.report(one);
  });
}

/** Findings about models. */
export interface ModelEvidence {
  /** The models that agents name, with the keys that name them; an agent that names none has what answers it. */
  named: Array<{ path: string; found: ModelState }>;
  providers: Array<{ id: string; isConfigured: boolean; state: ProviderState }>;
  skipped: readonly SkippedProvider[];
  /** Thinking levels of agents whose model is not known to reason. */
  thinking: Array<{ path: string; level: string; model: string }>;
  /** Model of the default agent. */
  inForce: ModelState;
}

function gather(kit: Kit): ModelEvidence {
  const { config, modelStates, catalog, directory } = kit;
  const named = directory.list().flatMap((agent) => {
    const at = config.agents.list.findIndex((entry) => entry.id === agent.id);
    const path = at >= 0 && config.agents.list[at]?.model !== undefined ? `agents.list[id=${agent.id}].model` : "agents.defaults.model";
    const heartbeat = config.agents.list[at]?.heartbeat?.model ?? config.agents.defaults.heartbeat?.model;
    return [
      ...agent.models.map((name) => ({ path, found: modelStates.named(agent.id, name) })),
      ...(heartbeat === undefined ? [] : [{ path: "heartbeat.model", found: modelStates.named(agent.id, heartbeat) }]),
    ];
  });
  const thinking = directory.list().flatMap((agent) => {
    const level = agentSetting(config, agent.id, "thinkingDefault");
    const { provider, model, state } = modelStates.of(agent);
    // The default, low, is no wish of anybody's.
    if (level === undefined || level === "off" || level === "low" || state === "embedded") return [];
    const found = catalog.provider(provider);
    const info = found && catalog.known(found).find((m) => m.id === model);
    return info && info.reasoning !== true
      ? [{ path: `agents.list[id=${agent.id}].thinkingDefault`, level, model: `${provider}/${model}` }]
      : [];
  });
  const vendors = catalog.providers().filter((p) => !p.embedded);
  return {
    named,
    providers: vendors.map((p) => ({
      id: p.id,
      isConfigured: Object.hasOwn(config.models.providers, p.id),
      state: modelStates.provider(p),
    })),
    skipped: modelStates.skipped(),
    thinking,
    inForce: modelStates.of(directory.get(directory.defaultId)),
  };
}

/** Problems with models, each with its fix. Pure. */
export function modelFindings({ named, providers, skipped, thinking, inForce }: ModelEvidence): DoctorFinding[] {
  const seen = new Set<string>();
  const unknown = named.filter(({ path, found }) => {
    const key = `${path} ${found.provider}/${found.model}`;
    return found.state === "unknown" && !seen.has(key) && seen.add(key);
  });
  return [
    ...unknown.map(
      ({ path, found }): DoctorFinding => ({
        id: "models/unknown",
        severity: "error",
        path,
        message: `model "${nameOf(found)}" of agent "${found.agentId}" cannot be used: ${found.reason}`,
        fix: "name one that svc models list shows, or configure its provider in models.providers",
      }),
    ),
    ...providers.flatMap(({ id, state }) => providerFindings(id, state)),
    ...embeddedFindings(inForce, skipped),
    ...thinking.map(
      ({ path, level, model }): DoctorFinding => ({
        id: "models/thinking",
        severity: "warning",
        path,
        message: `the thinking level "${level}" is not sent: ${model} is not known to reason`,
        fix: "set reasoning: true for the model in models.providers.<vendor>.models if it does, or thinkingDefault to off",
      }),
    ),
  ];
}

function providerFindings(id: string, { state, reason = "unknown reason", until }: ProviderState): DoctorFinding[] {
  const at = { path: `models.providers.${id}`, message: `provider "${id}": ${reason}` };
  switch (state) {
    case "unavailable":
      return [
        { id: "models/key-missing", severity: "error", ...at, fix: `svc config set models.providers.${id}.apiKey …, or remove the entry` },
      ];
    case "key-rejected":
      return [
        {
          id: "models/key-rejected",
          severity: "error",
          ...at,
          fix: `check models.providers.${id}.apiKey, or its variable in the environment`,
        },
      ];
    case "unreachable":
      return [{ id: "models/unreachable", severity: "error", ...at, fix: `start the server, or correct models.providers.${id}.baseUrl` }];
    case "cooldown": {
      const rest = until === undefined ? "" : `; it is tried again at ${new Date(until).toISOString()}`;
      return [
        {
          id: "models/cooldown",
          severity: "warning",
          ...at,
          message: `${at.message}${rest}`,
          fix: "wait, or name another model as fallback",
        },
      ];
    }
    default:
      return [];
  }
}

/** Findings about the built-in model: having no language model is fine, but an operator who configured one wants to know why it does not answer. */
function embeddedFindings({ state }: ModelState, skipped: readonly SkippedProvider[]): DoctorFinding[] {
  if (state !== "embedded" || skipped.length > 0) return [];
  return [
    {
      id: "models/none",
      severity: "info",
      message: "no language model is configured, so notes are quoted instead",
      fix: "set a key such as OPENAI_API_KEY, or name a server in models.providers.<vendor>.baseUrl",
    },
  ];
}

function nameOf({ provider, model }: ModelState): string {
  return provider === "" ? model : `${provider}/${model}`;
}
