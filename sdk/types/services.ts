import type { Agents } from "./agents.ts";
import type { Approvals } from "./approvals.ts";
import type { Bedrock } from "./bedrock.ts";
import type { ConfigService } from "./config.ts";
import type { Cron } from "./cron.ts";
import type { Devices } from "./devices.ts";
import type { GatewayService } from "./gateway.ts";
import type { Leases } from "./leases.ts";
import type { LocalRuntime } from "./local-runtime.ts";
import type { Memory } from "./memory.ts";
import type { Messaging } from "./messaging.ts";
import type { PluginsService } from "./plugins-service.ts";
import type { SandboxService } from "./sandbox.ts";
import type { Store } from "./store.ts";
import type { StoreBackend } from "./store-backend.ts";
import type { Diagnostics } from "./tracing.ts";

/** Names of versioned services and their types; third parties add theirs by declaration merging. */
export interface Services {
  "config@1": ConfigService;
  "gateway@1": GatewayService;
  "plugins@1": PluginsService;
  "sandbox@1": SandboxService;
  "diagnostics@1": Diagnostics;
  "store@2": Store;
  "leases@1": Leases;
  "store-backend@1": StoreBackend;
  "agents@1": Agents;
  "memory@1": Memory;
  "cron@1": Cron;
  "approvals@1": Approvals;
  "messaging@1": Messaging;
  "devices@1": Devices;
  "bedrock@1": Bedrock;
  "local-runtime@1": LocalRuntime;
}
