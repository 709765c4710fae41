import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { expandPath, resolveAgents } from "../../sdk/agents.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { isInside } from "../../sdk/internal/files/inside.ts";
import type { ConfigWarning } from "../../sdk/types/config-file.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { clampWarnings } from "./clamp-warnings.ts";
import type { LoadedConfig } from "./loaded.ts";

/** A config with what surrounds it on this machine. */
export interface SettingQuestion {
  loaded: Pick<LoadedConfig, "path" | "resolved"> & { config: SvcConfig };
  stateDir: string;
  manifests: readonly Manifest[];
  /** Model providers of the plugins that run, where that is known. */
  modelProviders?: readonly string[];
}

/**
 * Settings that a gateway starts with and that cannot be meant: it brings a number into its range, never ends a session by a silence that has no
 * length, fails each run of a model that nobody has, and answers 500 for a transform that it may not load. A writer refuses to add one, and `svc config validate` reports it.
 */
export async function settingIssues(question: SettingQuestion): Promise<ConfigWarning[]> {
  const { loaded } = question;
  const ranges = clampWarnings(loaded.resolved, loaded.config);
  return [...ranges, ...idleIssues(loaded.config), ...modelIssues(question), ...(await transformIssues(loaded))];
}

/** Settings that work, or will once something is there, and deserve a word to whoever makes them. */
export async function settingWarnings({ loaded: { config }, stateDir }: SettingQuestion): Promise<ConfigWarning[]> {
  return [...weakSecrets(config), ...(await missingFolders(config, stateDir))];
}

/**
 * Finds the modes `idle` for which no `idleMinutes` is in force. A session goes by the rule of its channel, then by that of its type of chat, then by the
 * general one, field by field.
 */
function idleIssues({ session: { reset, resetByType, resetByChannel } }: SvcConfig): ConfigWarning[] {
  const general = { at: "session.reset", rule: reset };
  const types = (["direct", "group", "thread"] as const).map((type) => ({ at: `session.resetByType.${type}`, rule: resetByType[type] }));
  const channels = Object.entries(resetByChannel).map(([id, rule]) => ({ at: `session.resetByChannel.${id}`, rule }));
  const chains = [undefined, ...channels].flatMap((channel) => types.map((type) => [...(channel ? [channel] : []), type, general]));
  const endless = chains.flatMap((chain) => {
    const deciding = chain.find(({ rule }) => rule?.mode !== undefined);
    return deciding?.rule?.mode === "idle" && chain.every(({ rule }) => rule?.idleMinutes === undefined) ? [deciding.at] : [];
  });
  const message = "idle without idleMinutes never resets a session; set idleMinutes as well, for example to 60, or mode none";
  return [...new Set(endless)].map((at) => ({ path: `${at}.mode`, message }));
}

function modelIssues({ loaded: { config }, manifests, modelProviders = [] }: SettingQuestion): ConfigWarning[] {
  const { providers } = config.models;
  const vendors = manifests.flatMap((manifest) => (manifest.secrets ?? []).flatMap(({ path }) => vendorOf(path) ?? []));
  const declared = manifests.flatMap(({ contributes }) => contributes?.modelProviders ?? []);
  const known = new Set([...Object.keys(providers), ...declared, ...vendors, ...modelProviders]);
  const aliases = new Set(Object.values(config.agents.defaults.models ?? {}).map(({ alias }) => alias?.toLowerCase()));
  return namedModels(config).flatMap(({ path, model }) => {
    const slash = model.indexOf("/");
    // A bare name may be that of any provider's model.
    if (slash < 1 || aliases.has(model.toLowerCase())) return [];
    const [provider, id] = [model.slice(0, slash), model.slice(slash + 1)];
    if (!known.has(provider)) {
      return [
        {
          path,
          message: `no model provider "${provider}" is known; expected one of ${[...known]
            .filter((one) => one !== "*")
            .sort()
            .join(", ")}`,
        },
      ];
    }
    const listed = providers[provider]?.models ?? [];
    if (listed.length === 0 || listed.some((one) => one.id === id)) return [];
    return [
      {
        path,
        message: `models.providers.${provider}.models does not list "${id}"; expected one of ${listed.map((one) => one.id).join(", ")}`,
      },
    ];
  });
}

/** Vendor of `models.providers.<vendor>.apiKey`. */
function vendorOf(path: string): string | undefined {
  const [, vendor] = /^models\.providers\.([^.*]+)\./.exec(path) ?? [];
  return vendor;
}

function namedModels({ agents, hooks }: SvcConfig): Array<{ path: string; model: string }> {
  const of = (at: string, { model, heartbeat }: Pick<SvcConfig["agents"]["defaults"], "model" | "heartbeat">) => [
    ...(typeof model === "string" ? [{ path: `${at}.model`, model }] : []),
    ...(typeof model === "object"
      ? [
          { path: `${at}.model.primary`, model: model.primary },
          ...model.fallbacks.map((fallback, i) => ({ path: `${at}.model.fallbacks.${i}`, model: fallback })),
        ]
      : []),
    ...(heartbeat?.model === undefined ? [] : [{ path: `${at}.heartbeat.model`, model: heartbeat.model }]),
  ];
  return [
    ...of("agents.defaults", agents.defaults),
    ...agents.list.flatMap((agent, i) => of(`agents.list.${i}`, agent)),
    ...hooks.mappings.flatMap(({ model }, i) =>
      model === undefined || model.includes("{{") ? [] : [{ path: `hooks.mappings.${i}.model`, model }],
    ),
  ];
}

async function transformIssues({ path, config: { hooks } }: SettingQuestion["loaded"]): Promise<ConfigWarning[]> {
  const configDir = dirname(path);
  const root = join(configDir, "hooks", "transforms");
  const named = hooks.transformsDir;
  const dir = named === undefined ? root : resolve(configDir, /^~(\/|$)/.test(named) ? join(homedir(), named.slice(1)) : named);
  const [outer, real] = [await nearestReal(root), await nearestReal(dir)];
  if (real !== outer && !isInside(outer, real))
    return [{ path: "hooks.transformsDir", message: `expected a folder within ${root}, got ${dir}` }];
  const modules = hooks.mappings.flatMap(({ transform }, i) =>
    transform ? [{ at: `hooks.mappings.${i}.transform.module`, module: transform.module }] : [],
  );
  const problems = await Promise.all(
    modules.map(async ({ at, module }) => {
      const file = await nearestReal(join(real, module));
      if (!isInside(real, file)) return [{ path: at, message: `expected a file within ${dir}, got ${module}` }];
      const facts = await stat(file).catch(() => undefined);
      return facts?.isFile() ? [] : [{ path: at, message: `there is no such file: ${join(dir, module)}` }];
    }),
  );
  return problems.flat();
}

/** A path with its links resolved as far as it exists. */
async function nearestReal(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await nearestReal(dirname(path)), relative(dirname(path), path));
}

/** Shortest gateway secret that is not called weak. */
const MIN_SECRET_CHARS = 16;

function weakSecrets({ gateway: { auth } }: SvcConfig): ConfigWarning[] {
  return (["token", "password"] as const).flatMap((kind) => {
    const secret: unknown = auth[kind];
    if (typeof secret !== "string" || secret.length >= MIN_SECRET_CHARS) return [];
    return [{ path: `gateway.auth.${kind}`, message: `has ${secret.length} characters; ${MIN_SECRET_CHARS} or more cannot be guessed` }];
  });
}

/** A folder may come later, on a disk that is not there yet: nothing is refused for it. */
async function missingFolders({ agents }: SvcConfig, stateDir: string): Promise<ConfigWarning[]> {
  const config = { agents } as SvcConfig;
  const places = resolveAgents(config, stateDir);
  const base = places.find((agent) => agent.isDefault)?.workspace ?? stateDir;
  const named = [
    ...pathsOf(agents.defaults.memorySearch?.extraPaths, "agents.defaults", base),
    ...agents.list.flatMap(({ id, memorySearch }, i) =>
      pathsOf(memorySearch?.extraPaths, `agents.list.${i}`, places.find((agent) => agent.id === id)?.workspace ?? base),
    ),
  ];
  const missing = await Promise.all(
    named.map(async ({ at, path }) =>
      (await stat(path).catch(() => undefined)) ? [] : [{ path: at, message: `there is nothing at ${path}` }],
    ),
  );
  return missing.flat();
}

function pathsOf(paths: readonly string[] | undefined, at: string, base: string): Array<{ at: string; path: string }> {
  return (paths ?? []).flatMap((path, i) =>
    path.trim() === "" ? [] : [{ at: `${at}.memorySearch.extraPaths.${i}`, path: resolve(expandPath(path.trim(), base)) }],
  );
}
