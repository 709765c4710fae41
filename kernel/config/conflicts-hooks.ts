import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Conflict, RuleContext } from "./conflict.ts";

type Hooks = SvcConfig["hooks"];
type Mapping = Hooks["mappings"][number];

/** Rules within `hooks`. */
export function hookConflicts({ hooks, gateway }: SvcConfig): Conflict[] {
  return [
    ...ingressConflicts(hooks),
    ...pathConflicts(hooks, gateway),
    ...sessionKeyConflicts(hooks),
    ...verifyConflicts(hooks),
    ...templateConflicts(hooks),
  ];
}

/** The rule between `hooks` and `gateway`: one secret does not open both. */
export function tokenReuseConflicts(_: SvcConfig, { gatewaySecrets, resolved }: RuleContext): Conflict[] {
  const { token } = resolved.hooks;
  const { auth } = resolved.gateway;
  if (token === undefined || ![auth.token, auth.password, ...gatewaySecrets].includes(token)) return [];
  return [
    {
      path: ["hooks", "token"],
      message: "hooks.token must differ from the gateway token and password",
      hint: "who may send webhooks must not be able to operate the gateway",
    },
  ];
}

function ingressConflicts(hooks: Hooks): Conflict[] {
  const conflicts: Conflict[] = [];
  // A reference stands here while a config is judged before its secrets are asked for.
  const hasToken = typeof hooks.token === "string" ? hooks.token.trim() !== "" : hooks.token !== undefined;
  if (hooks.enabled && !hasToken) {
    conflicts.push({
      path: ["hooks", "token"],
      message: "hooks.enabled requires hooks.token",
      hint: "svc hooks token --rotate sets a random one",
    });
  }
  if (/^\/+$/.test(hooks.path)) {
    conflicts.push({ path: ["hooks", "path"], message: "hooks.path may not be '/'", hint: 'the default is "/hooks"' });
  }
  return conflicts;
}

/** Paths that answer something else. */
const takenPaths = ["/v1", "/tools", "/api", "/health", "/healthz", "/ready", "/readyz"];

function pathConflicts({ enabled, path }: Hooks, { controlUi }: SvcConfig["gateway"]): Conflict[] {
  const base = path.replace(/(?<!\/)\/+$/, "");
  const pages = controlUi.enabled && controlUi.basePath !== "/" ? [controlUi.basePath] : [];
  const owner = [...takenPaths, ...pages].find((taken) => base === taken || base.startsWith(`${taken}/`) || taken.startsWith(`${base}/`));
  if (!enabled || base === "" || owner === undefined) return [];
  return [
    { path: ["hooks", "path"], message: `hooks.path overlaps ${owner}, where something else answers`, hint: 'the default is "/hooks"' },
  ];
}

/** Prefixes that limit something: blank entries do not count. */
export function effectivePrefixes(hooks: Pick<Hooks, "allowedSessionKeyPrefixes">): string[] {
  return (hooks.allowedSessionKeyPrefixes ?? []).map((prefix) => prefix.trim().toLowerCase()).filter((prefix) => prefix !== "");
}

/** Sessions of the gateway's own runs. */
const reservedKey = /^\s*(?:agent:[^:]*:\s*)?(subagent|cron|acp):/i;

function sessionKeyConflicts(hooks: Hooks): Conflict[] {
  const namespace = reservedKey.exec(hooks.defaultSessionKey ?? "")?.[1];
  if (namespace !== undefined) {
    const message = `hooks.defaultSessionKey uses the reserved namespace ${namespace.toLowerCase()}:`;
    return [{ path: ["hooks", "defaultSessionKey"], message, hint: 'such as "hook:ingress"' }];
  }
  const prefixes = effectivePrefixes(hooks);
  if (prefixes.length === 0) return [];
  const key = hooks.defaultSessionKey?.toLowerCase();
  const path = ["hooks", "allowedSessionKeyPrefixes"];
  if (key === undefined && !prefixes.some((prefix) => "hook:".startsWith(prefix))) {
    return [
      {
        path,
        message: "hooks.allowedSessionKeyPrefixes must include 'hook:' when hooks.defaultSessionKey is unset",
        hint: "runs that name no session get a fresh key that begins with hook:",
      },
    ];
  }
  if (key === undefined || prefixes.some((prefix) => key.startsWith(prefix))) return [];
  return [
    {
      path: ["hooks", "defaultSessionKey"],
      message: "hooks.defaultSessionKey must match hooks.allowedSessionKeyPrefixes",
      hint: `expected one of ${prefixes.join(", ")} at its beginning`,
    },
  ];
}

function verifyConflicts(hooks: Hooks): Conflict[] {
  const conflicts: Conflict[] = [];
  const paths = new Map<string, number>();
  hooks.mappings.forEach((mapping, i) => {
    const { verify } = mapping;
    if (!verify) return;
    const at = ["hooks", "mappings", i, "verify"];
    const path = mapping.match?.path;
    if (path === undefined)
      conflicts.push({ path: at, message: "verify needs match.path", hint: "signatures are checked before the payload is read" });
    else if (paths.has(path)) {
      conflicts.push({
        path: at,
        message: `hooks.mappings[${paths.get(path)}] verifies "${path}" already`,
        hint: "one path has one sender",
      });
    } else paths.set(path, i);
    conflicts.push(...senderConflicts(verify, at));
  });
  return conflicts;
}

function senderConflicts(verify: NonNullable<Mapping["verify"]>, at: PropertyKey[]): Conflict[] {
  const conflicts: Conflict[] = [];
  if ((verify.secret === undefined) === (verify.secrets === undefined)) {
    conflicts.push({ path: at, message: "verify needs either secret or secrets", hint: "secrets: [new, old] while a key is replaced" });
  }
  const own = (["header", "prefix", "encoding", "timestampHeader", "idHeader"] as const).filter((key) => verify[key] !== undefined);
  if (verify.provider === "hmac" && verify.header === undefined) {
    conflicts.push({ path: at, message: 'provider "hmac" needs verify.header', hint: "the header that holds the signature" });
  }
  if (verify.provider !== "hmac" && own.length > 0) {
    conflicts.push({
      path: [...at, own[0] as string],
      message: `expected no ${own.join(", ")} here: only provider "hmac" takes that`,
      hint: `"${verify.provider}" has headers of its own`,
    });
  }
  return conflicts;
}

/** A session key made of the payload alone would let the sender choose any session. */
function templateConflicts(hooks: Hooks): Conflict[] {
  if (effectivePrefixes(hooks).length > 0) return [];
  return hooks.mappings.flatMap(({ sessionKey }, i) =>
    sessionKey !== undefined && /^\s*\{\{/.test(sessionKey)
      ? [
          {
            path: ["hooks", "mappings", i, "sessionKey"],
            message: "a templated sessionKey needs text before its first {{, or hooks.allowedSessionKeyPrefixes",
            hint: 'such as "hook:orders:{{payload.id}}"',
          },
        ]
      : [],
  );
}
