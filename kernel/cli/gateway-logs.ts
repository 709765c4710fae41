import type { SvcConfig } from "../../sdk/config/root.ts";
import { perSnapshot } from "../../sdk/internal/per-snapshot.ts";
import { isLogged, type LogLevel, logLevels } from "../../sdk/log-levels.ts";
import type { CliContext } from "../../sdk/types/cli.ts";
import type { RunningGateway } from "../boot/running-gateway.ts";
import { loggingSchema } from "../config/sections/logging.ts";
import { consoleSink } from "../process/console-log.ts";
import { createLogFile } from "../process/log-file.ts";
import { createFlagLevels } from "../process/log-flags.ts";
import { collapseRepeats } from "../process/log-repeats.ts";
import { createLogger, type RootLogger } from "../process/logger.ts";
import { envValue } from "../process/paths.ts";

type Logging = SvcConfig["logging"];

/** The logs of a gateway's process. */
export interface GatewayLogs {
  readonly logger: RootLogger;
  /** Writes why a start failed to the file; the console is told by the command itself. */
  noteFailure(message: string): void;
  /** Gateway whose config decides from now on, at each line; what the command line or `SVC_LOG_LEVEL` says stays. */
  follow(gateway: Pick<RunningGateway, "config">): void;
  /** Resolves when the last line is written. */
  close(): Promise<void>;
}

export interface LogOptions {
  /** `--log-level`: for the file and the console. */
  level: LogLevel | undefined;
  /** `--verbose`: everything on the console; the file's level stays. */
  verbose: boolean;
  /** `logging` of the config, until there is a gateway; absent when it cannot be read. */
  configured: unknown;
}

const noFlags: readonly string[] = [];

/** Console and file as `logging.*` wants them. */
export function openLogs(cli: Pick<CliContext, "env" | "paths" | "stderr" | "color">, options: LogOptions): GatewayLogs {
  let gateway: Pick<RunningGateway, "config"> | undefined;
  const atStart = (options.configured as Logging | undefined) ?? loggingSchema.parse({});
  const settings = () => gateway?.config().logging ?? atStart;
  const named = envValue(cli.env, "SVC_LOG_LEVEL");
  const override = options.level ?? logLevels.find((level) => level === named);

  const consoleLevel = (): LogLevel => (options.verbose ? "trace" : (override ?? settings().consoleLevel));
  const fileLevel = (): LogLevel => override ?? settings().level;
  const { stderr, color } = cli;
  const console = consoleSink(stderr, {
    level: consoleLevel,
    style: () => settings().consoleStyle,
    paint: { trace: color.dim, debug: color.dim, info: color.green, warn: color.yellow, error: color.red },
  });
  const file = createLogFile({
    stateDir: cli.paths.stateDir,
    level: fileLevel,
    settings,
    onFault: (message) => stderr.line(message),
  });
  const sinks = collapseRepeats((record) => {
    console(record);
    file(record);
  });
  const least = perSnapshot(settings, () => (isLogged(consoleLevel(), fileLevel()) ? fileLevel() : consoleLevel()));
  const flags = perSnapshot(
    () => gateway?.config().diagnostics.flags ?? noFlags,
    (named) => createFlagLevels(named),
  );
  const logger = createLogger([sinks], Date.now, least, (subsystem) => flags()(subsystem));
  logger.redactWith(() => settings().redactPatterns);
  if (named !== undefined && !logLevels.some((level) => level === named))
    logger.warn(`SVC_LOG_LEVEL: "${named}" is no level and is ignored; expected one of ${logLevels.join(", ")}`);
  const atExit = () => {
    sinks.close();
    file.writeRest();
  };
  process.on("exit", atExit);
  const fileLogger = createLogger([file], Date.now);
  return {
    logger,
    noteFailure: (message) => fileLogger.error(message),
    follow(next) {
      gateway = next;
    },
    async close() {
      logger.close();
      sinks.close();
      await file.close();
      process.off("exit", atExit);
    },
  };
}
