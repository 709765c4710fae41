import type { SvcConfig } from "../../sdk/config/root.ts";

/** One broken rule: where, why, and what helps. */
export interface Conflict {
  path: PropertyKey[];
  message: string;
  hint?: string;
}

/** Shared secrets of the gateway from sources besides the config. */
export interface RuleContext {
  gatewaySecrets: readonly string[];
  /** The same config with the values of its references; the rules' own argument may have references in place. */
  resolved: SvcConfig;
}
