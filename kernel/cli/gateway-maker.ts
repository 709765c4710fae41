import { watchdogLimitsFrom } from "../../sdk/gateway/watchdog.ts";
import { installProcessGuard } from "../../sdk/host/process-guard.ts";
import { exitProcess } from "../../sdk/sandbox/threads.ts";
import type { GatewayMaker } from "../../sdk/types/host-gateway.ts";
import { exportEnv } from "../config/process-env.ts";
import { createGateway, type Gateway } from "../gateway.ts";

/** The kernel, as the command `gateway run` takes it. */
export const gatewayMaker: GatewayMaker = {
  create: (options) => createGateway({ ...options, exportEnv }),
  guard: (gateway, logger) =>
    installProcessGuard(gateway as Gateway, logger, { exit: exitProcess, watchdog: watchdogLimitsFrom(process.env) }),
};
