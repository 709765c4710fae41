import { access } from "node:fs/promises";
import { writeFileAtomic } from "../../sdk/files.ts";
import type { CliCommand, CliContext, CliLocal, CliTarget, CliValues } from "../../sdk/types/cli.ts";
import type { JsonObject } from "../../sdk/types/common.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { LoadedConfig } from "../config/loaded.ts";
import { acquireStateLock, readLockOwner } from "../process/lock.ts";
import { logFilePath } from "../process/log-path.ts";
import { type ProfilePaths, packageRoot, resolvePort } from "../process/paths.ts";
import { readLooseJson } from "./loose-json.ts";
import type { ContextOptions } from "./program.ts";
import { isIndirect, resolveTarget } from "./target.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

/** Creates the context of a command. Everything heavy (config schema, sockets, the kernel) is loaded by the method that needs it. */
export function createCliContext(options: ContextOptions): CliContext {
  const { env, paths, version } = options;
  const rpc = rpcValues(options.command, options.values);
  const { load, forget, target: readTarget, config } = configReader(options);
  const target = (): Promise<CliTarget> => readTarget(rpc);
  const ports = portsOf({ env, paths }, config);
  const lockOwner: CliContext["lockOwner"] = async () => {
    const owner = await readLockOwner(paths.stateDir);
    return owner ? { pid: owner.pid, ...(owner.port ? { port: owner.port } : {}) } : undefined;
  };
  const advice = adviceOf(paths, { config, lockOwner, ports });
  const connect: CliContext["connect"] = async ({ mode = "cli", scopes, caps, timeoutMs, newDevice = true, target: named } = {}) => {
    const { connectToGateway } = await import("./connect.ts");
    const at = named ?? (await target());
    const limit = timeoutMs ?? (typeof rpc.timeout === "number" ? rpc.timeout : DEFAULT_TIMEOUT_MS);
    const how = { version, mode, scopes, caps, timeoutMs: limit, newDevice, stateDir: paths.stateDir, env, signal: options.signal };
    return connectToGateway({ ...how, target: at, startAdvice: () => advice.start(at), answerAdvice: () => advice.answer(at) });
  };

  return {
    ...options.output,
    env,
    paths: { ...paths, packageRoot: packageRoot() },
    signal: options.signal,
    version,
    target,
    config,
    startAdvice: () => advice.start(undefined),
    async configFile() {
      const { openConfigFile } = await import("./config-file.ts");
      forget(); // whoever opens the file wants it as it is now: the doctor has just made it readable
      // One write asks a dozen times, and each answer is read from all folders of plugins.
      let manifests: Promise<Manifest[]> | undefined;
      const find = async () => (await discoverHere(paths, await load())).flatMap(({ manifest }) => manifest ?? []);
      const onWrite = () => {
        manifests = undefined;
        forget();
      };
      return openConfigFile({ paths, env }, { manifests: () => (manifests ??= find()), onWrite });
    },
    connect,
    async withClient(work, how) {
      const client = await connect(how);
      const leave = () => void client.close();
      options.signal.addEventListener("abort", leave, { once: true });
      try {
        return await work(client);
      } finally {
        options.signal.removeEventListener("abort", leave);
        await client.close();
      }
    },
    ports,
    lockOwner,
    holdState: (work) => holdState(options, work),
    local: (plugins, { quiet = false } = {}) => openLocal(options, plugins, quiet ? "error" : "warn"),
    liftQuarantine: async (id) => (await import("../operations/quarantine.ts")).liftQuarantine(paths.stateDir, id),
    manifests: async () => listManifests(paths, await load()),
    candidates: async () => discoverHere(paths, await load()),
    importPlugin: async (entry) => (await import("../loader/import.ts")).importModule(entry, paths.stateDir),
    inspectPlugin: async (folder) => (await import("../loader/discovery.ts")).inspectPluginFolder(folder),
    async auditSecrets({ allowExec }) {
      const [loaded, { auditSecrets }] = await Promise.all([load(), import("../config/secrets-audit.ts")]);
      const declared = (await listManifests(paths, loaded)).flatMap((manifest) => manifest.secrets);
      return auditSecrets({ loaded, env, stateDir: paths.stateDir, allowExec, declared });
    },
    logs: logsOf(paths),
    sandbox: { openTransforms: async (how) => (await import("../sandbox/transform-sandbox.ts")).createTransformSandbox(how) },
    installedPlugins: async () => (await import("./installed-plugins.ts")).installedPlugins(paths.stateDir),
    vendorPackages: async () => (await import("./installed-plugins.ts")).vendorPackages(paths.stateDir),
    watchFolders: async (how) => (await import("../process/folder-watches.ts")).createFolderWatches(how),
    withFileLock: async (lock, work, how) => (await import("../process/file-lock.ts")).withFileLock(lock, work, how),
    writeFile: writeFileAtomic,
  };
}

/** Next steps where no gateway answers, or another one than that of the profile. */
function adviceOf(paths: ProfilePaths, { config, lockOwner, ports }: Pick<CliContext, "config" | "lockOwner" | "ports">) {
  const facts = async () => {
    const [found, owner, isKept] = await Promise.all([config(), lockOwner(), hasLastGood(paths)]);
    return { paths, config: found, owner, hasLastGood: isKept };
  };
  return {
    async start(target: CliTarget | undefined): Promise<string> {
      const { startAdvice } = await import("./start-advice.ts");
      return startAdvice({ ...(await facts()), ...(target ? { target } : {}) });
    },
    async answer(target: CliTarget): Promise<string | undefined> {
      const { answerAdvice } = await import("./start-advice.ts");
      const known = await facts();
      const [holder] = known.owner ? [] : await ports.holders(target.port).catch(() => []);
      return answerAdvice({ ...known, target, holder });
    },
  };
}

/** Is there a copy of the config that a gateway became ready with? */
async function hasLastGood({ configPath }: ProfilePaths): Promise<boolean> {
  const { lastGoodPath } = await import("../config/backups.ts");
  return access(lastGoodPath(configPath)).then(
    () => true,
    () => false,
  );
}

/** Reads the config once for a command, and says once that it is not the file as it stands. */
function configReader({ env, paths, output }: ContextOptions) {
  let loading: Promise<LoadedConfig> | undefined;
  const load = () => {
    loading ??= import("../config/load.ts").then(({ loadConfig }) => loadConfig(paths.configPath, { env, secrets: "none" }));
    return loading;
  };
  let hasWarned = false;
  const usable = async (secrets: "none" | "start") => {
    const { loadUsable } = await import("./broken-config.ts");
    const { loaded, problem } = await loadUsable(paths.configPath, { env, secrets });
    if (problem !== undefined && !hasWarned) output.stderr.line(output.color.yellow(`warning: ${problem}`));
    hasWarned ||= problem !== undefined;
    return loaded;
  };
  const readConfig = (path: string) => readForTarget(path, async () => (await usable("start")).resolved);
  const config: CliContext["config"] = async () => {
    const { exists, valid, issues, unserved, source, config: parsed } = await load();
    const { formatIssue } = await import("../../sdk/config/config-issue.ts");
    return {
      exists,
      valid,
      issues: [...issues, ...unserved].map((issue) => ({ path: issue.path, message: issue.message, text: formatIssue(issue) })),
      config: (parsed ?? (source === undefined ? (await usable("none")).config : undefined)) as JsonObject | undefined,
    };
  };
  return {
    load,
    /** After the file was written. */
    forget() {
      loading = undefined;
    },
    target: (values: CliValues) => resolveTarget({ values, env, paths, readConfig }),
    config,
  };
}

/** Most files say themselves where the gateway is; the reader of includes, variables and secrets is loaded only for those that do not, or do not parse. */
async function readForTarget(path: string, resolved: () => Promise<unknown>): Promise<unknown> {
  let authored: unknown;
  try {
    authored = await readLooseJson(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : resolved();
  }
  return isIndirect(authored) ? ((await resolved()) ?? authored) : authored;
}

/** The common connection flags; an own option of the same name (`agent --timeout <s>`) means something else. */
function rpcValues(command: CliCommand, values: CliValues): CliValues {
  // The gateway's own flags: its secrets are those with which it is reached, and its port stands in the lock.
  if (!command.rpc) return { token: values.token, password: values.password };
  return Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(command.options ?? {}, name)));
}

function logsOf({ stateDir }: ProfilePaths): CliContext["logs"] {
  return {
    path: (configured) => logFilePath(stateDir, configured, new Date()),
    async tail(configured, question) {
      const { currentLogFile, tailLog } = await import("../process/log-tail.ts");
      return tailLog(await currentLogFile(stateDir, configured, new Date()), question);
    },
  };
}

function portsOf({ env, paths }: Pick<ContextOptions, "env" | "paths">, readConfig: CliContext["config"]): CliContext["ports"] {
  return {
    async ofNextStart(flag) {
      const { config } = await readConfig();
      const { port } = (config?.gateway ?? {}) as { port?: unknown };
      return resolvePort({ flag, env, config: typeof port === "number" ? port : undefined, profile: paths.profile });
    },
    async holders(port) {
      const found = await (await import("../process/port-holders.ts")).findPortHolders(port);
      return found.map(({ pid, command }) => ({ pid, command }));
    },
    isGateway: async (port) => (await import("../process/gateway-probe.ts")).answersAsGateway("127.0.0.1", port),
  };
}

async function holdState<T>({ paths, version }: ContextOptions, work: () => Promise<T>): Promise<T> {
  const { configPath, stateDir } = paths;
  const lock = await acquireStateLock({ configPath, stateDir, port: null, version }, 0);
  try {
    await (await import("../../sdk/internal/files/replacement.ts")).continueReplacement(stateDir);
    return await work();
  } finally {
    await lock.release();
  }
}

async function openLocal(options: ContextOptions, plugins: string[], level: "warn" | "error"): Promise<CliLocal> {
  const [{ createGateway }, { createLogger }, { consoleSink }, { exportEnv }] = await Promise.all([
    import("../boot/gateway.ts"),
    import("../process/logger.ts"),
    import("../process/console-log.ts"),
    import("../config/process-env.ts"),
  ]);
  const { env, paths, version, output } = options;
  const logger = createLogger([consoleSink(output.stderr, { level: () => level })]);
  const gateway = await createGateway({ paths, env, version, logger, listen: false, only: plugins, exportEnv });
  await gateway.ready;
  return { service: gateway.service, contributions: gateway.contributions, close: () => gateway.close("command finished") };
}

async function discoverHere(paths: ProfilePaths, loaded: LoadedConfig): Promise<PluginCandidate[]> {
  return (await import("./found-plugins.ts")).findPlugins(paths, loaded);
}

async function listManifests(paths: ProfilePaths, loaded: LoadedConfig): Promise<Awaited<ReturnType<CliContext["manifests"]>>> {
  return (await discoverHere(paths, loaded)).map(({ id, version, origin, manifest, problem }) => ({
    id,
    version,
    name: manifest?.name ?? id,
    description: manifest?.description ?? "",
    origin,
    enabled: problem === undefined,
    state: problem?.state ?? "ready",
    ...(problem ? { reason: `${problem.code}: ${problem.reason}`, ...(problem.hint ? { hint: problem.hint } : {}) } : {}),
    secrets: manifest?.secrets ?? [],
  }));
}
