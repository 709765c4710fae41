import { createGateway } from "../boot/gateway.ts";
import type { Gateway, GatewayMaker } from "../boot/running-gateway.ts";
import { exportEnv } from "../config/process-env.ts";
import { processMemory } from "../operations/memory-pressure.ts";
import { installProcessGuard } from "../operations/process-guard.ts";
import { watchdogLimitsFrom } from "../operations/watchdog.ts";
import { exitProcess } from "../sandbox/threads.ts";

/** The kernel, as the command `gateway run` takes it. */
export const gatewayMaker: GatewayMaker = {
  create: (options) => createGateway({ ...options, exportEnv, memory: processMemory() }),
  guard: (running, logger) => {
    const gateway = running as Gateway;
    return installProcessGuard(gateway, logger, {
      exit: exitProcess,
      watchdog: watchdogLimitsFrom(process.env),
      stateDir: gateway.service("gateway@1").info().stateDir,
      logFile: () => gateway.config().logging.file,
    });
  },
};
