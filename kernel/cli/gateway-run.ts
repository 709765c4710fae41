import { readFile, rename, rm } from "node:fs/promises";
import { commonErrors, isSvcError, messageOf, SvcError } from "../../sdk/errors.ts";
import type { CliContext, CliTarget, CliValues } from "../../sdk/types/cli.ts";
import type { GatewayMaker, RunningGateway } from "../boot/running-gateway.ts";
import { freePort } from "../process/free-port.ts";
import { limitHeapGrowth } from "../process/heap-growth.ts";
import type { RootLogger } from "../process/logger.ts";
import type { ProfilePaths } from "../process/paths.ts";
import { findPortHolders } from "../process/port-holders.ts";
import type { StandardOutput } from "../process/standard-streams.ts";
import type { StartFlags } from "../process/start-flags.ts";
import { isSupervised, isUnderLaunchd, trimServiceLogs } from "../process/supervisor.ts";
import { type GatewayLogs, openLogs } from "./gateway-logs.ts";
import type { LogLevelName } from "./root-flags.ts";
import { tapWsLog } from "./ws-log.ts";

export interface GatewayCommandOptions {
  path: readonly string[];
  logLevel: LogLevelName | undefined;
  /** Tells a person what to do next, once the gateway is ready; some plugin's command, if there is one. */
  announce: ((cli: CliContext) => Promise<unknown>) | undefined;
  /** The process's own streams, which may fail without ending the gateway. */
  output: Pick<StandardOutput, "onLoss" | "hurry"> | undefined;
  /** Loads the kernel's gateway, once it is really wanted. */
  maker(): Promise<GatewayMaker>;
}

/** A supervisor that sees this code starts the gateway again. */
const EXIT_RESTART = 75;
/** In-process restarts keep old modules in memory; after this many a real one is asked for. */
const MAX_RESTARTS = 10;

/**
 * The gateway in the foreground, until a signal. A restart that becomes due starts it again in this process, or ends the process with 75 under a supervisor.
 * @throws {SvcError} what a start throws, `usage`, `port-owner-*`
 */
export async function runGateway(cli: CliContext, values: CliValues, own: GatewayCommandOptions): Promise<number> {
  if (values.https && cli.paths.profile !== "dev") {
    throw commonErrors.usage({ message: "gateway --https: only with --dev; elsewhere set gateway.tls to a certificate of your own" });
  }
  if (values.reset) await resetState(cli);
  limitHeapGrowth();
  if (isUnderLaunchd(cli.env)) await trimServiceLogs(cli.paths.stateDir);
  const { config } = await cli.config();
  const logs = openLogs(cli, { level: own.logLevel, verbose: values.verbose === true, configured: config?.logging });
  // Registered before anything else: without a listener SIGUSR1 opens a debugger port and SIGHUP kills.
  const signals = holdSignals(logs.logger);
  const forgetStreams = own.output?.onLoss((message) => logs.logger.warn(message));
  try {
    if (process.getuid?.() === 0) logs.logger.warn("running as root; an ordinary user is sufficient and safer");
    const maker = await own.maker();
    for (let restarts = 0; ; restarts++) {
      const end = await runOnce(cli, values, { own, maker, logs, signals, ...(restarts > 0 ? { restartedAt: performance.now() } : {}) });
      if (end === "stopped") return 0;
      // A fresh process is better than a restart in this one.
      if (isSupervised(cli.env)) return EXIT_RESTART;
      if (restarts === MAX_RESTARTS)
        logs.logger.warn(`${restarts} restarts in one process; stop and start it to free the memory they hold`);
    }
  } catch (error) {
    if (isSvcError(error)) logs.noteFailure(`the gateway did not start: ${error.message}`);
    throw error;
  } finally {
    signals.release();
    forgetStreams?.();
    await logs.close();
    own.output?.hurry();
  }
}

interface Run {
  own: GatewayCommandOptions;
  maker: GatewayMaker;
  logs: GatewayLogs;
  signals: ReturnType<typeof holdSignals>;
  /** Monotonic ms; absent for the first start of the process. */
  restartedAt?: number;
}

/** One gateway from start to stop. */
async function runOnce(cli: CliContext, values: CliValues, run: Run): Promise<"stopped" | "restart"> {
  const { maker } = run;
  const { logger } = run.logs;
  let due: (reason: string) => void = () => undefined;
  const restart = new Promise<string>((resolve) => {
    due = resolve;
  });
  const gateway = await start(cli, values, { ...run, due });
  const wsLog = values["ws-log"];
  if (wsLog === "compact" || wsLog === "full") tapWsLog(gateway, logger, wsLog);
  const removeGuard = maker.guard(gateway, logger);
  run.signals.follow(gateway);
  run.logs.follow(gateway);
  const stop = aborted(cli.signal).then(() => undefined);
  let reason: string | undefined;
  let closing = "start failed";
  try {
    await Promise.race([gateway.ready, stop]);
    if (run.restartedAt === undefined && !cli.signal.aborted) await announce(cli, run, gateway);
    reason = await Promise.race([stop, restart]);
    closing = reason === undefined ? "gateway stopping" : `gateway restarting: ${reason}`;
  } finally {
    run.signals.follow(undefined);
    await gateway.close(cli.signal.aborted ? "gateway stopping" : closing, { restart: reason !== undefined && !cli.signal.aborted });
    removeGuard();
  }
  return reason === undefined || cli.signal.aborted ? "stopped" : "restart";
}

/** The environment and the config may name another port than the one that is served. */
async function announce(cli: CliContext, { own, logs }: Run, { port }: RunningGateway): Promise<void> {
  const target = async (): Promise<CliTarget> => {
    const found = await cli.target();
    return { ...found, url: found.url.replace(/:\d+$/, `:${port}`), port };
  };
  await own.announce?.({ ...cli, target }).catch((error) => logs.logger.warn(`the hints could not be shown: ${messageOf(error)}`));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function start(cli: CliContext, values: CliValues, run: Run & { due(reason: string): void }): Promise<RunningGateway> {
  const { env, version } = cli;
  const { logger } = run.logs;
  const mayTake = values.force && run.restartedAt === undefined;
  const takePort = mayTake ? (host: string, port: number) => freePort(host, port, (line) => logger.warn(line)) : undefined;
  try {
    return await run.maker.create({
      paths: cli.paths as ProfilePaths,
      env,
      logger,
      version,
      flags: await startFlags(values),
      onRestartDue: run.due,
      ...(takePort ? { takePort } : {}),
      ...(run.restartedAt === undefined ? {} : { restartedAt: run.restartedAt }),
    });
  } catch (error) {
    throw await withHolder(error);
  }
}

async function startFlags(values: CliValues): Promise<StartFlags> {
  const { port, bind, auth, token } = values as StartFlags;
  return {
    port,
    bind,
    auth,
    token,
    password: await password(values),
    allowUnconfigured: values["allow-unconfigured"] === true,
    https: values.https === true,
  };
}

async function password(values: CliValues): Promise<string | undefined> {
  const file = values["password-file"];
  if (typeof file !== "string") return values.password as string | undefined;
  if (values.password !== undefined) throw commonErrors.usage({ message: "--password and --password-file exclude each other" });
  try {
    const text = (await readFile(file, "utf8")).replace(/\r?\n$/, "");
    if (text !== "") return text;
  } catch (error) {
    throw commonErrors.usage({ message: `--password-file ${file}: ${messageOf(error)}` });
  }
  throw commonErrors.usage({ message: `--password-file ${file}: the file is empty` });
}

/** Names the process that is on the port, as far as the system tells. */
async function withHolder(error: unknown): Promise<unknown> {
  if (!isSvcError(error) || !isAboutPort(error.code) || error.fields.holder !== undefined) return error;
  const holder = (await findPortHolders(Number(error.fields.port)).catch(() => []))[0];
  if (!holder) return error;
  const { command, pid } = holder;
  const shown = error.code === "port-taken" ? ` by ${command} (pid ${pid})` : ` (held by ${command}, pid ${pid})`;
  return new SvcError(error.code, error.spec, { ...error.fields, holder: shown });
}

function isAboutPort(code: string): boolean {
  return code === "port-taken" || code === "already-listening";
}

/** SIGHUP reads config and secrets again; SIGUSR1 and SIGUSR2 restart the gateway in this process. */
function holdSignals(logger: RootLogger) {
  let gateway: RunningGateway | undefined;
  const told = (name: string) => {
    if (!gateway) return logger.warn(`${name}: ignored, the gateway is not running yet`);
    if (name !== "SIGHUP") {
      if (!gateway.mayRestart()) return logger.warn(`${name}: refused, commands.restart is false`);
      return gateway.requestRestart(name);
    }
    void gateway.reload("signal").then(
      ({ status, issues }) => logger.info(`${name}: config ${status}`, issues.length > 0 ? { issues } : {}),
      (error: unknown) => logger.error(`${name}: reload failed: ${messageOf(error)}`),
    );
  };
  const names = process.platform === "win32" ? [] : (["SIGHUP", "SIGUSR1", "SIGUSR2"] as const);
  for (const name of names) process.on(name, told);
  return {
    /** Gateway that the signals are meant for from now on. */
    follow(next: RunningGateway | undefined) {
      gateway = next;
    },
    release() {
      for (const name of names) process.off(name, told);
    },
  };
}

/** Puts the dev profile's state aside; the one before it is kept as `<dir>.old`. */
async function resetState(cli: CliContext): Promise<void> {
  const { profile, stateDir, stateDirSource } = cli.paths;
  if (profile !== "dev" || stateDirSource !== "profile")
    throw commonErrors.usage({ message: "gateway --reset: only with --dev and without SVC_STATE_DIR" });
  const owner = await cli.lockOwner();
  if (owner) throw commonErrors.usage({ message: `gateway --reset: a gateway uses this state (pid ${owner.pid}); stop it first` });
  await rm(`${stateDir}.old`, { recursive: true, force: true });
  await rename(stateDir, `${stateDir}.old`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
