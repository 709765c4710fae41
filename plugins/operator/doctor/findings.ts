import type { DoctorFinding } from "svc/sdk";
import type { Notice } from "svc/sdk/internal";
import { type AccessEvidence, accessFindings } from "./access.ts";
import type { OwnFinding } from "./checks.ts";
import { type DatabaseEvidence, databaseFindings } from "./database.ts";
import { MAX_LOG_BYTES, SPARE_LOG_BYTES } from "./logs.ts";
import type { WatchLimits } from "./machine.ts";
import { type NativeEvidence, nativeReason } from "./native.ts";
import { type PortEvidence, portFindings } from "./port-checks.ts";
import { type ServiceEvidence, serviceFindings } from "./service-checks.ts";

export type Severity = DoctorFinding["severity"];
export const severities: readonly Severity[] = ["info", "warning", "error"];

/** An issue of the config as `svc config validate` knows it. */
export interface Issue {
  path: string;
  code: string;
  message: string;
  /** With file, line and column, as people read it. */
  text: string;
}

/** Facts gathered on this machine; contains no secret. */
export interface Evidence {
  config: {
    path: string;
    exists: boolean;
    valid: boolean;
    issues: Issue[];
    warnings: Array<{ path: string; message: string }>;
    /** `gateway.mode` as written. */
    mode: string | undefined;
    lastGood: boolean;
  };
  /** Undefined while the config is not valid. */
  auth: { mode: string; secretChars: number | undefined; refusal: { code: string; message: string } | undefined } | undefined;
  pluginIssues: Array<{ path: string; message: string }>;
  plugins: Array<{ id: string; state: string; reason: string | undefined; hint?: string | undefined }>;
  /** Origins that may use the gateway from elsewhere; undefined while only this machine can, or the page is off. */
  origins: { configured: readonly string[] | undefined; port: number; scheme: "http" | "https" } | undefined;
  native: readonly NativeEvidence[];
  /** Bytes of all logs together. */
  logs: { path: string; bytes: number };
  watch: WatchLimits | undefined;
  /** Folders that a restore has left behind. */
  leftovers: readonly string[];
  /** Plugins in use whose own packages are not installed. */
  packages: Array<{ plugin: string; path: string; missing: readonly string[]; command: string; isOptional: boolean }>;
  /** Files and folders that others than their owner may read: path and mode. */
  open: Array<{ path: string; mode: number; kind: "config" | "state" }>;
  access: AccessEvidence;
  database: DatabaseEvidence;
  /** The last gateway, when it is gone although nobody asked it to end, and the next step. */
  killed: { startedAt: number; advice: string } | undefined;
  secrets: Array<{ code: string; path: string; message: string }>;
  staleLocks: string[];
  node: { version: string; floor: string };
  freeBytes: number | undefined;
  /** Notices that were not acknowledged yet; `file` holds each. */
  notices: Array<Notice & { file: string }>;
  /** The network file system that the state is on, if it is on one. */
  network: { path: string; kind: string } | undefined;
  service: ServiceEvidence;
  port: PortEvidence;
  /** Findings of a running gateway's plugins. */
  live: DoctorFinding[];
}

const MIN_SECRET_CHARS = 16;
const MIN_FREE_BYTES = 1_000_000_000;
/** Limits that every system had for a long time; notes in many folders, an editor and a file manager share it. */
const MIN_WATCHES = 8_192;
const MIN_INSTANCES = 128;

/** Every finding, the worst first. Pure. */
export function findingsOf(evidence: Evidence): DoctorFinding[] {
  const found = [
    ...configFindings(evidence),
    ...modeFindings(evidence),
    ...authFindings(evidence),
    ...pluginFindings(evidence),
    ...packageFindings(evidence),
    ...fileFindings(evidence),
    ...accessFindings(evidence.access),
    ...databaseFindings(evidence.database),
    ...bootFindings(evidence),
    ...secretFindings(evidence),
    ...machineFindings(evidence),
    ...serviceFindings(evidence.service),
    ...portFindings(evidence.port),
    ...originFindings(evidence),
    ...nativeFindings(evidence),
    ...roomFindings(evidence),
    ...noticeFindings(evidence),
    ...evidence.live,
  ];
  return found.sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function configFindings({ config, access }: Evidence): OwnFinding[] {
  const { issues, path, exists, lastGood, valid, warnings } = config;
  const restorable = { fix: "svc doctor --fix --restore-last-good, which restores the last config that worked", fixable: true };
  if (!exists) {
    const remedy = lastGood ? restorable : { fix: "svc setup" };
    return [{ id: "config/missing", severity: "error", path, message: "there is no config file", ...remedy }];
  }
  // Its content is not known then.
  if (access.denied.some((one) => one.path === path && one.lacks === "read")) return [];
  const restore = !valid && lastGood ? restorable : {};
  return [
    ...issues.map((issue): OwnFinding => {
      const id = idOfIssue(issue);
      const remedy = id === "auth/hook-token-reuse" ? rotation : restore;
      return { id, severity: "error", path: issue.path || path, message: issue.text, ...remedy };
    }),
    ...warnings.map((warning): OwnFinding => {
      if (!isMissingPlugin(warning)) return { id: "config/warning", severity: "warning", ...warning };
      const id = /^plugins\.entries\.([^.]+)$/.exec(warning.path)?.[1];
      const off =
        id === undefined ? {} : { fix: `svc plugins install it again; or svc doctor --fix, which switches its entry off`, fixable: true };
      return { id: "plugins/missing", severity: "warning", ...warning, ...off };
    }),
  ];
}

function isMissingPlugin({ path }: { path: string }): boolean {
  return /^plugins\.(entries|allow|deny|slots)\./.test(path);
}

function idOfIssue({ code, path }: Issue): OwnFinding["id"] {
  if (code === "parse" || code === "include") return "config/parse";
  if (code === "unknown_key") return "config/unknown-keys";
  if (code === "not_in_release") return "config/not-in-release";
  if (code === "conflict" && path === "gateway.auth") return "auth/ambiguous";
  if (code === "conflict" && path === "hooks.token") return "auth/hook-token-reuse";
  return "config/schema";
}

function modeFindings({ config, auth }: Evidence): OwnFinding[] {
  if (!config.exists || !config.valid || config.mode !== undefined) return [];
  const fixable = auth?.secretChars !== undefined;
  const fix = fixable ? "svc doctor --fix sets gateway.mode to local" : "svc config set gateway.mode local";
  return [{ id: "config/mode-missing", severity: "error", path: "gateway.mode", message: "not set, so no gateway starts", fix, fixable }];
}

function authFindings({ auth, config }: Evidence): OwnFinding[] {
  // Set-up brings a secret along.
  if (!auth || !config.exists) return [];
  const { mode, secretChars, refusal } = auth;
  const found: OwnFinding[] = [];
  if (refusal?.code === "bind-without-auth") {
    found.push({ id: "auth/bind-exposed", severity: "error", path: "gateway.bind", message: refusal.message });
  }
  if (mode === "none" || mode === "trusted-proxy") return found;
  if (refusal?.code === "secret-unresolved") found.push({ id: "secrets/unresolved", severity: "error", message: refusal.message });
  else if (secretChars === undefined) {
    const fix = "svc doctor --fix writes a fresh token";
    const fixable = mode === "token";
    found.push({
      id: "auth/missing",
      severity: "warning",
      path: `gateway.auth.${mode}`,
      message: `no ${mode} is set; each start makes up another one`,
      ...(fixable ? { fix, fixable } : { fix: "set it there, or set SVC_GATEWAY_PASSWORD for the gateway" }),
    });
  } else if (secretChars < MIN_SECRET_CHARS) {
    const message = `the secret has ${secretChars} characters; ${MIN_SECRET_CHARS} or more cannot be guessed`;
    found.push({ id: "auth/weak", severity: "warning", path: `gateway.auth.${mode}`, message });
  }
  return found;
}

function pluginFindings({ pluginIssues, plugins }: Evidence): OwnFinding[] {
  return [
    ...pluginIssues.map(
      (issue): OwnFinding => ({ id: "plugins/config", severity: "warning", fix: "correct it, or switch the plugin off", ...issue }),
    ),
    ...plugins
      .filter(({ state }) => state === "failed" || state === "blocked")
      .map(
        ({ id, reason, hint }): OwnFinding => ({
          id: reason?.startsWith("api-mismatch:") ? "plugins/version" : "plugins/load",
          severity: "error",
          path: `plugins.entries.${id}`,
          message: `plugin "${id}" does not load: ${reason ?? "unknown reason"}`,
          fix: `${hint ?? "svc plugins doctor"}; or svc doctor --fix, which switches it off`,
          fixable: true,
        }),
      ),
  ];
}

function packageFindings({ packages }: Evidence): OwnFinding[] {
  return packages.map(({ plugin, path, missing, command, isOptional }) => ({
    id: "plugins/packages",
    severity: isOptional ? "info" : "error",
    path,
    message: `plugin "${plugin}" ${isOptional ? "can do more with" : "needs"} packages that are not installed: ${missing.join(", ")}`,
    fix: command,
  }));
}

function fileFindings({ open, staleLocks }: Evidence): OwnFinding[] {
  const octal = (mode: number) => `0${mode.toString(8)}`;
  return [
    ...open.map(
      ({ path, mode, kind }): OwnFinding => ({
        id: kind === "config" ? "config/perms" : "state/perms",
        severity: "warning",
        path,
        message: `mode ${octal(mode)}: others on this machine can read it`,
        fix: "svc doctor --fix removes those permissions",
        fixable: true,
      }),
    ),
    ...staleLocks.map(
      (path): OwnFinding => ({
        id: "lock/stale",
        severity: "info",
        path,
        message: "left by a process that is gone",
        fix: "svc doctor --fix removes it",
        fixable: true,
      }),
    ),
  ];
}

/** Remedy of one token for two purposes: senders of webhooks have to be told, so it is asked for by --fix. */
const rotation = { fix: "svc doctor --fix makes a fresh hooks.token; senders need it, too", fixable: true };

function secretFindings({ secrets }: Evidence): OwnFinding[] {
  const ids: Record<string, Pick<OwnFinding, "id" | "severity">> = {
    REF_UNRESOLVED: { id: "secrets/unresolved", severity: "error" },
    PLAINTEXT_FOUND: { id: "secrets/plaintext", severity: "info" },
    DUPLICATE_SECRET: { id: "auth/hook-token-reuse", severity: "error" },
  };
  return secrets.flatMap(({ code, path, message }) => {
    const known = ids[code];
    if (!known) return [];
    return [{ ...known, path, message, ...(known.id === "auth/hook-token-reuse" ? rotation : {}) }];
  });
}

function machineFindings({ node, freeBytes, network, logs }: Evidence): OwnFinding[] {
  const found: OwnFinding[] = [];
  if (network !== undefined) {
    found.push({
      id: "state/network-fs",
      severity: "warning",
      path: network.path,
      message: `the state is on a network file system (${network.kind}): its locks and its memory maps do not hold what the database needs, which can damage it`,
      fix: "move the state directory to a local disk (SVC_STATE_DIR)",
    });
  }
  if (isOlder(node.version, node.floor)) {
    found.push({ id: "node/version", severity: "error", message: `Node ${node.version} is too old; ${node.floor} or newer is needed` });
  }
  if (freeBytes !== undefined && freeBytes < MIN_FREE_BYTES) {
    const message = `${Math.round(freeBytes / 1_000_000)} MB are free where the state is kept; a full disk stops every write`;
    const prune = { path: logs.path, fix: "svc doctor --fix deletes the oldest logs; free some more space by hand", fixable: true };
    found.push({ id: "disk/free", severity: "warning", message, ...(logs.bytes > SPARE_LOG_BYTES ? prune : {}) });
  }
  return found;
}

/** An empty list lets nobody in; without a list, or with the local pair in it, the gateway adds what belongs to its port. */
function originFindings({ origins }: Evidence): OwnFinding[] {
  if (origins?.configured?.length !== 0) return [];
  const message = "it is empty, so no page may use the gateway, not even its own control UI from another machine";
  const fix = `svc doctor --fix adds ${seededOrigins(origins).join(" and ")}; add the address that people use as well`;
  return [{ id: "controlui/origins", severity: "error", path: "gateway.controlUi.allowedOrigins", message, fix, fixable: true }];
}

/** Origins of the page on this machine itself. */
export function seededOrigins({ port, scheme }: { port: number; scheme: "http" | "https" }): string[] {
  return [`${scheme}://localhost:${port}`, `${scheme}://127.0.0.1:${port}`];
}

function nativeFindings({ native }: Evidence): OwnFinding[] {
  return native.flatMap(({ package: name, fault }): OwnFinding[] => {
    if (fault === undefined) return [];
    const message = `${name} cannot be loaded: ${nativeReason(fault)}`;
    const fix = `npm rebuild ${name}, in the folder where svc is installed`;
    if (name === "better-sqlite3")
      return [{ id: "native/sqlite", severity: "error", message: `${message}; no gateway starts without it`, fix }];
    return [{ id: "native/sqlite-vec", severity: "warning", message: `${message}; vectors are compared in the process instead`, fix }];
  });
}

function roomFindings({ logs, watch, leftovers }: Evidence): OwnFinding[] {
  const found: OwnFinding[] = leftovers.map((path) => ({
    id: "state/leftovers",
    severity: "warning",
    path,
    message: "a copy of a state, left by a restore that was cut off before it changed anything",
    fix: "svc doctor --fix removes it",
    fixable: true,
  }));
  if (logs.bytes > MAX_LOG_BYTES) {
    const message = `the logs take ${Math.round(logs.bytes / 1_000_000)} MB; ${MAX_LOG_BYTES / 1_000_000} MB is their limit`;
    found.push({
      id: "logs/size",
      severity: "warning",
      path: logs.path,
      message,
      fix: "svc doctor --fix deletes the oldest",
      fixable: true,
    });
  }
  if (watch && (watch.watches < MIN_WATCHES || watch.instances < MIN_INSTANCES)) {
    const message = `the system allows ${watch.watches} watches and ${watch.instances} watchers per user; changes of notes may be noticed late`;
    const fix = "as root: sysctl -w fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512";
    found.push({ id: "watch/limits", severity: "warning", message, fix });
  }
  return found;
}

/** Each is taken away by removing its file: the operator has read it. */
function bootFindings({ killed }: Evidence): OwnFinding[] {
  if (!killed) return [];
  const began = new Date(killed.startedAt).toISOString();
  const message = `the gateway started ${began} is gone, and nobody had asked it to end: it was killed, had no memory left, or the machine went down; what it had accepted goes on with the next start`;
  return [{ id: "boot/unclean-end", severity: "warning", message, fix: killed.advice }];
}

function noticeFindings({ notices }: Evidence): DoctorFinding[] {
  return notices.map(({ id, severity, message, fix, at, file }) => ({
    id,
    severity,
    path: file,
    message: `${new Date(at).toISOString()}: ${message}`,
    ...(fix === undefined ? {} : { fix }),
    fixable: true,
  }));
}

function isOlder(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((v) => v.split(".").map(Number));
  const i = (b ?? []).findIndex((part, at) => part !== a?.[at]);
  return i >= 0 && (a?.[i] ?? 0) < (b?.[i] ?? 0);
}
