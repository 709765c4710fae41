import { resolveAgents, type SvcConfig } from "svc/sdk";

/** Config for the page before it has a connection; no secret, no path. */
export interface BootstrapConfig {
  basePath: string;
  assistantName: string;
  assistantAvatar: string | null;
  assistantAgentId: string;
  serverVersion: string;
  serverBuildId?: string;
  authMode: string;
  /** Panels of plugins with a place of their own. */
  pluginTabs: readonly object[];
}

/** Body of `control-ui-config.json`. Pure. */
export function bootstrapConfig(
  config: SvcConfig,
  facts: { stateDir: string; version: string; authMode: string; buildId: string | undefined; pluginTabs?: readonly object[] },
): BootstrapConfig {
  const agents = resolveAgents(config, facts.stateDir);
  const agent = agents.find((a) => a.isDefault);
  return {
    basePath: config.gateway.controlUi.basePath,
    assistantName: agent?.identity.name ?? agent?.name ?? agent?.id ?? "main",
    assistantAvatar: agent?.identity.avatar ?? agent?.identity.emoji ?? null,
    assistantAgentId: agent?.id ?? "main",
    serverVersion: facts.version,
    ...(facts.buildId === undefined ? {} : { serverBuildId: facts.buildId }),
    authMode: facts.authMode,
    pluginTabs: facts.pluginTabs ?? [],
  };
}
