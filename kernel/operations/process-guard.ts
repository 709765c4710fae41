import type { Logger } from "../../sdk/types/common.ts";
import { running } from "../hooks/running.ts";
import type { PluginFaults } from "./plugin-faults.ts";
import { startWatchdog } from "./watchdog.ts";
import type { WatchdogLimits } from "./watchdog-shared.ts";

/** After an error without an owner the gateway still says goodbye, but not for long. */
const LAST_WORDS_MS = 2_000;

/** The gateway whose process is guarded. */
export interface GuardedGateway {
  /** Ends a plugin whose code threw where nobody could catch it; false when no such plugin runs. */
  failPlugin(id: string, error: unknown): Promise<boolean>;
  readonly faults: PluginFaults;
  close(reason: string, options?: { isCrash?: boolean }): Promise<void>;
}

/**
 * The owner rule for late failures: a rejection is logged, counted and never fatal; an exception of a plugin ends that plugin;
 * one of nobody is a bug of the kernel: drain and exit 1. A blocked event loop is the watchdog's.
 *
 * @param options.watchdog limits; `false`: none
 * @returns undoes it
 */
export function installProcessGuard(
  gateway: GuardedGateway,
  logger: Logger,
  options: {
    exit(code: number): void;
    watchdog: Partial<WatchdogLimits> | false;
    /** Folder of the blame for a blocked event loop. */
    stateDir?: string;
    /** `logging.file` as it is now. */
    logFile?(): string | undefined;
  },
): () => void {
  const { exit } = options;
  const onRejection = (error: unknown) => {
    const owner = running.getStore();
    logger.error(`unhandled rejection${owner ? ` of plugin "${owner.plugin}" (${owner.what})` : ""}`, { error });
    if (owner) gateway.faults.failed(owner.plugin);
  };
  const onException = (error: unknown) => {
    const owner = running.getStore();
    logger.error(`uncaught exception${owner ? ` of plugin "${owner.plugin}" (${owner.what})` : ""}`, { error });
    void (async () => {
      if (owner && (await gateway.failPlugin(owner.plugin, error))) return;
      const lastWords = setTimeout(() => exit(1), LAST_WORDS_MS);
      await gateway
        .close("internal error", { isCrash: true })
        .catch((failure: unknown) => logger.error("the gateway did not stop cleanly", { error: failure }));
      clearTimeout(lastWords);
      exit(1);
    })();
  };
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onException);
  const stopWatchdog =
    options.watchdog &&
    startWatchdog({
      limits: options.watchdog,
      ...(options.stateDir === undefined ? {} : { stateDir: options.stateDir }),
      ...(options.logFile ? { logFile: options.logFile } : {}),
      onStall: gateway.faults.blocked,
      onError: (error) => logger.error("the watchdog ended; a blocked event loop will not be noticed", { error }),
    });
  return () => {
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onException);
    if (stopWatchdog) stopWatchdog();
  };
}
