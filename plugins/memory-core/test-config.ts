import type { SvcConfig, SvcConfigInput } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import sections from "./sections.ts";

/** The config as a gateway parses it, as far as this plugin reads it: the shared sections and its own. */
export function parseTestConfig({ memory, ...shared }: SvcConfigInput = {}): SvcConfig {
  return { ...parseSharedConfig(shared), memory: sections.memory.parse(memory) };
}
