import { defaultAgentId, mainSessionKey } from "../sdk/agents.ts";
import type { Health } from "../sdk/health.ts";
import type { ProfilePaths } from "../sdk/host/paths.ts";
import type { Presence } from "../sdk/presence.ts";
import { protocolEvents } from "../sdk/protocol/events.ts";
import { helloNumbers, PROTOCOL_VERSION, type StateVersion } from "../sdk/protocol/frames.ts";
import { hasScope } from "../sdk/scopes.ts";
import type { ClientInfo } from "../sdk/types/rpc.ts";
import type { HookBus } from "./hooks/bus.ts";
import { type MethodRegistry, RawJson } from "./port/methods.ts";
import type { StartPlan } from "./start.ts";

export interface HelloDeps {
  version: string;
  paths: ProfilePaths;
  plan: StartPlan;
  startedAt: number;
  methods: MethodRegistry;
  presence: Presence;
  health: Health;
  hooks: HookBus;
  stateVersion(): StateVersion;
}

/** Builds `hello-ok` (`protocol.md` 3.4). The parts that are the same for everybody are serialised once. */
export function createHello(deps: HelloDeps): (info: ClientInfo) => Promise<RawJson> {
  const { plan, paths, version } = deps;
  const constant = JSON.stringify(helloNumbers).slice(1);
  const agentId = defaultAgentId(plan.config);
  const sessionDefaults = {
    defaultAgentId: agentId,
    mainKey: "main",
    mainSessionKey: mainSessionKey(agentId),
    scope: plan.config.session.scope,
  };
  let features = { count: -1, text: "" };
  const featuresText = () => {
    const names = deps.methods.names();
    if (names.length !== features.count) {
      features = { count: names.length, text: JSON.stringify({ methods: names, events: Object.keys(protocolEvents), capabilities: [] }) };
    }
    return features.text;
  };

  return async (info) => {
    const extra = await deps.hooks.run("hello.snapshot", {});
    const admin = hasScope(info.scopes, "operator.admin") ? { configPath: paths.configPath, stateDir: paths.stateDir } : {};
    const head = { type: "hello-ok", protocol: PROTOCOL_VERSION, server: { version: version, connId: info.connId, bootId: plan.bootId } };
    const snapshot = {
      presence: hasScope(info.scopes, "operator.read") ? deps.presence.list() : [],
      stateVersion: deps.stateVersion(),
      uptimeMs: Date.now() - deps.startedAt,
      sessionDefaults: { ...sessionDefaults, ...extra.sessionDefaults },
      authMode: plan.auth.mode,
      ...admin,
    };
    const auth = { role: info.role, scopes: info.scopes };
    const text = [
      JSON.stringify(head).slice(0, -1),
      `,"features":${featuresText()}`,
      `,"snapshot":${JSON.stringify(snapshot).slice(0, -1)},"health":${await deps.health.text()}}`,
      `,"auth":${JSON.stringify(auth)},${constant}`,
    ];
    return new RawJson(text.join(""));
  };
}
