import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isSvcError, messageOf, SvcError } from "../../sdk/errors.ts";
import { consoleSink, createLogger, fileSink, type LogLevel, logLevels } from "../../sdk/host/logger.ts";
import { envValue } from "../../sdk/host/paths.ts";
import { findPortHolders } from "../../sdk/port-holders.ts";
import type { CliContext, CliValues } from "../../sdk/types/cli.ts";
import { createGateway, type Gateway } from "../gateway.ts";
import { installProcessGuard } from "../process-guard.ts";
import type { StartFlags } from "../start.ts";
import { tapWsLog } from "../ws-log.ts";
import { freePort } from "./force.ts";
import type { GatewayCommandOptions } from "./gateway-command.ts";

/**
 * The gateway in the foreground, until a signal.
 * @throws {SvcError} what `createGateway` throws, `usage`, `port-owner-*`
 */
export async function runGateway(cli: CliContext, values: CliValues, own: GatewayCommandOptions): Promise<number> {
  if (values.reset) await resetState(cli);
  const { config } = await cli.config();
  const logs = openLogs(cli, { level: values.verbose ? "trace" : own.logLevel, configured: config?.logging });
  const release = holdSignals((name) =>
    logs.logger.warn(`${name}: reload and restart are not available; stop the gateway and start it again`),
  );
  try {
    if (process.getuid?.() === 0) logs.logger.warn("running as root; an ordinary user is enough and safer");
    const gateway = await start(cli, values, logs.logger);
    const wsLog = values["ws-log"];
    if (wsLog === "compact" || wsLog === "full") tapWsLog(gateway.hooks, logs.logger, wsLog);
    const removeGuard = installProcessGuard(gateway, logs.logger, process.exit);
    try {
      return await serve(cli, gateway, async () => {
        await own.announce?.(cli).catch((error) => logs.logger.warn(`the hints could not be shown: ${messageOf(error)}`));
      });
    } finally {
      removeGuard();
    }
  } finally {
    release();
    logs.close();
  }
}

async function start(cli: CliContext, values: CliValues, logger: ReturnType<typeof createLogger>): Promise<Gateway> {
  const { env, paths, version } = cli;
  const takePort = values.force ? (host: string, port: number) => freePort(host, port, (line) => logger.warn(line)) : undefined;
  try {
    return await createGateway({
      paths: paths as Parameters<typeof createGateway>[0]["paths"],
      env,
      logger,
      version,
      flags: await startFlags(values),
      ...(takePort ? { takePort } : {}),
    });
  } catch (error) {
    throw await withHolder(error);
  }
}

async function startFlags(values: CliValues): Promise<StartFlags> {
  const { port, bind, auth, token } = values as StartFlags;
  return { port, bind, auth, token, password: await password(values), allowUnconfigured: values["allow-unconfigured"] === true };
}

async function password(values: CliValues): Promise<string | undefined> {
  const file = values["password-file"];
  if (typeof file !== "string") return values.password as string | undefined;
  if (values.password !== undefined) throw new SvcError("usage", { message: "--password and --password-file exclude each other" });
  try {
    const text = (await readFile(file, "utf8")).replace(/\r?\n$/, "");
    if (text !== "") return text;
  } catch (error) {
    throw new SvcError("usage", { message: `--password-file ${file}: ${messageOf(error)}` });
  }
  throw new SvcError("usage", { message: `--password-file ${file}: the file is empty` });
}

/** Until a signal, or until boot finds that a required plugin failed. */
async function serve(cli: CliContext, gateway: Gateway, announce: () => Promise<void>): Promise<number> {
  const signalled = new Promise<void>((resolve) => {
    if (cli.signal.aborted) resolve();
    cli.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    await Promise.race([gateway.ready, signalled]);
    if (!cli.signal.aborted) await announce();
    await signalled;
  } finally {
    await gateway.close(cli.signal.aborted ? "gateway stopping" : "start failed");
  }
  return 0;
}

/** Who is on the port, as far as the system tells. */
async function withHolder(error: unknown): Promise<unknown> {
  if (!isSvcError(error) || !("holder" in error.fields) || error.fields.holder !== "") return error;
  const holder = (await findPortHolders(Number(error.fields.port)).catch(() => []))[0];
  return holder ? new SvcError(error.code, { ...error.fields, holder: ` (held by ${holder.command}, pid ${holder.pid})` }) : error;
}

function openLogs(cli: CliContext, options: { level: LogLevel | undefined; configured: unknown }) {
  const configured = options.configured as { level?: LogLevel; consoleLevel?: LogLevel } | undefined;
  const named = envValue(cli.env, "SVC_LOG_LEVEL");
  const fromEnv = (logLevels as readonly string[]).includes(named ?? "") ? (named as LogLevel) : undefined;
  const override = options.level ?? fromEnv;
  const file = fileSink(join(cli.paths.stateDir, "logs"), override ?? configured?.level ?? "info");
  const console = consoleSink(cli.stderr, override ?? configured?.consoleLevel ?? configured?.level ?? "info");
  const logger = createLogger([console, file]);
  const close = () => {
    logger.close();
    file.close();
  };
  return { logger, close };
}

/** Without a listener SIGUSR1 opens a debugger port and SIGHUP kills; neither may happen to a running gateway by accident. */
function holdSignals(told: (name: string) => void): () => void {
  const names = process.platform === "win32" ? [] : (["SIGHUP", "SIGUSR1", "SIGUSR2"] as const);
  for (const name of names) process.on(name, told);
  return () => {
    for (const name of names) process.off(name, told);
  };
}

/** Puts the dev profile's state aside; the one before it is kept as `<dir>.old`. */
async function resetState(cli: CliContext): Promise<void> {
  const { profile, stateDir, stateDirSource } = cli.paths;
  if (profile !== "dev" || stateDirSource !== "profile")
    throw new SvcError("usage", { message: "gateway --reset: only with --dev and without SVC_STATE_DIR" });
  const owner = await cli.lockOwner();
  if (owner) throw new SvcError("usage", { message: `gateway --reset: a gateway uses this state (pid ${owner.pid}); stop it first` });
  await rm(`${stateDir}.old`, { recursive: true, force: true });
  await rename(stateDir, `${stateDir}.old`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
