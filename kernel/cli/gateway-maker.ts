import { watchdogLimitsFrom } from "../../sdk/gateway/watchdog.ts";
import { installProcessGuard } from "../../sdk/host/process-guard.ts";
import { exitProcess } from "../../sdk/sandbox/threads.ts";
import type { GatewayMaker } from "../../sdk/types/host-gateway.ts";
import { exportEnv } from "../config/process-env.ts";
import { createGateway, type Gateway } from "../gateway.ts";

/** The kernel, as the command `gateway run` takes it. */
export const gatewayMaker: GatewayMaker = {
  create: (options) => createGateway({ ...options, exportEnv }),
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
