import type { Logger } from "../sdk/types/common.ts";
import type { Gateway } from "./gateway.ts";
import { running } from "./hooks/guard.ts";

/** After an error without an owner the gateway still says goodbye, but not for long. */
const LAST_WORDS_MS = 2_000;

/**
 * The owner rule for late failures: a rejection is logged and never fatal; an exception of a plugin ends that plugin;
 * one of nobody is a bug of the kernel: drain and exit 1.
 * @returns undoes it
 */
export function installProcessGuard(gateway: Gateway, logger: Logger, exit: (code: number) => void): () => void {
  const onRejection = (error: unknown) => {
    const owner = running.getStore();
    logger.error(`unhandled rejection${owner ? ` of plugin "${owner.plugin}" (${owner.what})` : ""}`, { error });
  };
  const onException = (error: unknown) => {
    const owner = running.getStore();
    logger.error(`uncaught exception${owner ? ` of plugin "${owner.plugin}" (${owner.what})` : ""}`, { error });
    void (async () => {
      if (owner && (await gateway.failPlugin(owner.plugin, error))) return;
      setTimeout(() => exit(1), LAST_WORDS_MS).unref();
      await gateway.close("internal error");
      exit(1);
    })();
  };
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onException);
  return () => {
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onException);
  };
}
