import { defaultAgentId, mainSessionKey } from "../../sdk/agents.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import type { HookEvent } from "../../sdk/hooks.ts";
import { RawJson } from "../../sdk/internal/raw-json.ts";
import { hasScope } from "../../sdk/internal/scopes.ts";
import { protocolEvents } from "../../sdk/protocol/events.ts";
import { helloNumbers, PROTOCOL_VERSION, type StateVersion } from "../../sdk/protocol/frames.ts";
import type { ClientInfo } from "../../sdk/types/rpc.ts";
import type { Admission } from "../auth/devices/admission.ts";
import type { AuthMode } from "../auth/resolve-auth.ts";
import type { HookBus } from "../hooks/bus.ts";
import type { Health } from "../operations/health.ts";
import type { Presence } from "../operations/presence.ts";
import type { ProfilePaths } from "../process/paths.ts";
import { createVersionedText } from "./fanout/versioned-text.ts";
import type { MethodRegistry } from "./methods/registry.ts";

export interface HelloDeps {
  version: string;
  paths: ProfilePaths;
  plan: { bootId: string; auth: { mode: AuthMode } };
  config(): SvcConfig;
  uptimeMs(): number;
  methods: MethodRegistry;
  /** Names of the events that plugins of this release send. */
  pluginEvents: readonly string[];
  presence: Presence;
  health: Health;
  hooks: HookBus;
  stateVersion(): StateVersion;
}

/** Times in the list of who is here may be as old as this. */
const PRESENCE_AGE_MS = 1_000;

/** Builds `hello-ok`. The parts that are the same for everybody are serialised once. */
export function createHello(deps: HelloDeps): (info: ClientInfo, issued: Admission["issued"]) => Promise<RawJson> {
  const { plan, paths, version } = deps;
  const parts = createHelloParts(deps.pluginEvents);
  const { version: presenceVersion, list } = deps.presence;
  const presence = createVersionedText({
    version: presenceVersion,
    value: list,
    monotonic: () => performance.now(),
    maxAgeMs: PRESENCE_AGE_MS,
  });
  const sessionDefaults = () => {
    const agentId = defaultAgentId(deps.config());
    return { defaultAgentId: agentId, mainKey: "main", mainSessionKey: mainSessionKey(agentId), scope: deps.config().session.scope };
  };

  return async (info, issued) => {
    const shown = await deps.hooks.run("hello.snapshot", parts.standard(deps.methods.names()));
    const { features, numbers } = parts.text(shown);
    const isAdmin = hasScope(info.scopes, "operator.admin");
    const admin = isAdmin ? { configPath: paths.configPath, stateDir: paths.stateDir } : {};
    const head = { type: "hello-ok", protocol: PROTOCOL_VERSION, server: { version: version, connId: info.connId, bootId: plan.bootId } };
    const snapshot = {
      stateVersion: deps.stateVersion(),
      uptimeMs: deps.uptimeMs(),
      sessionDefaults: { ...sessionDefaults(), ...shown.sessionDefaults },
      authMode: plan.auth.mode,
      ...admin,
    };
    const auth = { role: info.role, scopes: info.scopes, ...issued };
    const text = [
      JSON.stringify(head).slice(0, -1),
      `,"features":${features}`,
      `,"snapshot":{"presence":${hasScope(info.scopes, "operator.read") ? presence() : "[]"},${JSON.stringify(snapshot).slice(1, -1)},"health":${await deps.health.text({ paths: isAdmin })}}`,
      `,"auth":${JSON.stringify(auth)},${numbers}}`,
    ];
    return new RawJson(text.join(""));
  };
}

/** Parts of hello-ok about the gateway itself, as the hook `hello.snapshot` sees them. */
type HelloParts = HookEvent<"hello.snapshot">;

/** The parts of hello-ok that are the same for everybody. Each is serialised once, unless a hook put another one in its place. */
function createHelloParts(pluginEvents: readonly string[]): {
  /** @param methods names in order of registration */
  standard(methods: readonly string[]): HelloParts;
  /** JSON of features, and of the members `policy` and `limits` without a brace before them. */
  text(parts: HelloParts): { features: string; numbers: string };
} {
  const serialised = new WeakMap<object, string>();
  const json = (value: object): string => {
    const known = serialised.get(value) ?? JSON.stringify(value);
    serialised.set(value, known);
    return known;
  };
  const events = Object.freeze([...Object.keys(protocolEvents), ...pluginEvents]);
  let features: HelloParts["features"] = { methods: [], events, capabilities: [] };
  return {
    standard(methods) {
      if (methods.length !== features.methods.length || methods.some((name, i) => name !== features.methods[i]))
        features = Object.freeze({ methods: Object.freeze([...methods]), events, capabilities: features.capabilities });
      return { features, policy: helloNumbers.policy };
    },
    text: (parts) => ({
      features: json(parts.features),
      numbers: `"policy":${json(parts.policy)},"limits":${json(helloNumbers.limits)}`,
    }),
  };
}
