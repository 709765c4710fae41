import type { GatewayMaker } from "../../sdk/types/host-gateway.ts";
import { createGateway, type Gateway } from "../gateway.ts";
import { installProcessGuard } from "../process-guard.ts";

/** The kernel, as the command `gateway run` takes it. */
export const gatewayMaker: GatewayMaker = {
  create: createGateway,
  guard: (gateway, logger) => installProcessGuard(gateway as Gateway, logger, process.exit),
};
