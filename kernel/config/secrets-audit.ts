import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatIssue } from "../../sdk/config/config-issue.ts";
import { commonErrors } from "../../sdk/errors.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { SecretFinding, SecretsAudit } from "../../sdk/types/secrets.ts";
import { secretFilePath } from "../secrets/file-provider.ts";
import { isActiveSecret } from "../secrets/owner.ts";
import { secretSites } from "../secrets/ref.ts";
import { copiesOf } from "./backups.ts";
import { configFileName } from "./includes.ts";
import { loadSecrets } from "./load.ts";
import type { LoadedConfig } from "./loaded.ts";
import type { RedactOptions } from "./redact.ts";
import { sensitiveTexts } from "./sensitive-texts.ts";
import { namesVariable } from "./substitute.ts";

/** Input of an audit. */
export interface AuditQuestion {
  /** Read with `secrets: "none"`. */
  loaded: LoadedConfig;
  env: Env;
  stateDir: string;
  /** Run the programs of exec providers. */
  allowExec: boolean;
  /** Declarations of plugins: paths (`*` = one segment) and the variables that may hold the value. */
  declared: ReadonlyArray<{ path: string; env?: readonly string[] }>;
}

/**
 * Looks at every secret of a config and at the files around it; changes nothing.
 * @throws {SvcError} `invalid-config`
 */
export async function auditSecrets(q: AuditQuestion): Promise<SecretsAudit> {
  const { loaded, env } = q;
  // A config whose keys contradict each other is audited too: one secret for two purposes is such a contradiction.
  if (loaded.issues.some(({ code }) => code !== "conflict")) {
    throw commonErrors.invalidConfig({ message: [`${loaded.path} is not valid`, ...loaded.issues.map(formatIssue)].join("\n") });
  }
  const resolved = await loadSecrets({ ...loaded, issues: [] }, { env, exec: q.allowExec });
  const skipped = q.allowExec
    ? []
    : secretSites(loaded.source).filter(({ ref, path }) => ref.source === "exec" && isActiveSecret(path, loaded.source));
  const redaction = { patterns: q.declared.map(({ path }) => path) };
  const findings = [
    ...plaintext(loaded, redaction),
    ...unresolved(resolved, redaction),
    ...shadowed(resolved, q),
    ...duplicates(resolved),
    ...(await openFiles(q)),
  ];
  return { findings, skippedExec: skipped.length };
}

function at(loaded: LoadedConfig, path: string): { path: string; file: string; line?: number } {
  const { line, file } = loaded.locate(path.split("."));
  return { path, file: file ?? loaded.path, line };
}

function plaintext(loaded: LoadedConfig, redaction: RedactOptions): SecretFinding[] {
  const sites = new Set(secretSites(loaded.source).map(({ path }) => path.join(".")));
  return sensitiveTexts(loaded.source, redaction)
    .filter(({ path, text }) => !namesVariable(text) && !sites.has(path.slice(0, -1).join(".")))
    .map(({ path }) => ({
      code: "PLAINTEXT_FOUND",
      ...at(loaded, path.join(".")),
      message: 'the secret itself is in the file; put a variable or a reference such as {source: "env", id: "NAME"} in its place',
    }));
}

function unresolved(resolved: LoadedConfig, redaction: RedactOptions): SecretFinding[] {
  const sensitive = new Set([
    ...sensitiveTexts(resolved.source, redaction).map(({ path }) => path.join(".")),
    ...secretSites(resolved.source).map(({ path }) => path.join(".")),
  ]);
  return resolved.unresolved
    .filter(({ path }) => sensitive.has(path))
    .map(({ path, reason }) => ({ code: "REF_UNRESOLVED", ...at(resolved, path), message: reason }));
}

/** A variable that was set to give a secret, while the config names another one: somebody will wonder which of the two counts. */
function shadowed(resolved: LoadedConfig, { env, declared }: AuditQuestion): SecretFinding[] {
  const own = [
    { path: "gateway.auth.token", env: ["SVC_GATEWAY_TOKEN"] },
    { path: "gateway.auth.password", env: ["SVC_GATEWAY_PASSWORD"] },
  ];
  return [...own, ...declared].flatMap(({ path: pattern, env: names = [] }) =>
    [...resolved.secrets].flatMap(([path, value]) => {
      if (!matches(pattern, path)) return [];
      const rivals = names.filter((name) => env[name] !== undefined && env[name] !== "" && env[name] !== value);
      return rivals.map((name): SecretFinding => {
        const message = `variable ${name} is set to something else; the config counts and the variable is not used`;
        return { code: "REF_SHADOWED", ...at(resolved, path), message };
      });
    }),
  );
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("."), path.split(".")];
  return wanted.length === given.length && wanted.every((part, i) => part === "*" || part === given[i]);
}

function duplicates(resolved: LoadedConfig): SecretFinding[] {
  const { secrets, env } = resolved;
  const hook = secrets.get("hooks.token");
  const gateway: Array<[string, string | undefined]> = [
    ["gateway.auth.token", secrets.get("gateway.auth.token")],
    ["gateway.auth.password", secrets.get("gateway.auth.password")],
    ["SVC_GATEWAY_TOKEN", env.SVC_GATEWAY_TOKEN],
    ["SVC_GATEWAY_PASSWORD", env.SVC_GATEWAY_PASSWORD],
  ];
  const same = gateway.filter(([, value]) => value !== undefined && value === hook).map(([name]) => name);
  return same.map((name) => ({
    code: "DUPLICATE_SECRET",
    ...at(resolved, "hooks.token"),
    message: `is the same secret as ${name}; every webhook sender could act as an operator; use different secrets`,
  }));
}

/** Files with secrets in them that others than their user can read or write. */
async function openFiles({ loaded, env, stateDir }: AuditQuestion): Promise<SecretFinding[]> {
  if (process.platform === "win32") return [];
  const providers = Object.values(loaded.config?.secrets.providers ?? {});
  const configDir = dirname(loaded.path);
  const secretFiles = providers.flatMap((p) => (p.source === "file" ? [secretFilePath(p, { env, configDir })] : []));
  const files = [...loaded.files.map((file) => file.path), ...copiesOf(loaded.path), ...secretFiles];
  const privateFiles = [...files, join(stateDir, ".env"), join(stateDir, "gateway", "runtime-token")];
  const paths: Array<[path: string, expected: number]> = [
    [stateDir, 0o700],
    ...privateFiles.map((path): [string, number] => [path, 0o600]),
  ];
  const checked = await Promise.all(
    paths.map(async ([path, expected]): Promise<SecretFinding[]> => {
      const file = await lstat(path).catch(() => undefined);
      if (!file || file.isSymbolicLink() || (file.mode & 0o077) === 0) return [];
      const mode = (file.mode & 0o777).toString(8).padStart(4, "0");
      const message = `mode ${mode} lets others in; expected 0${expected.toString(8)}: chmod ${expected.toString(8)} ${path}`;
      return [{ code: "FILE_PERMS", path: "", file: configFileName(loaded.path, path), message }];
    }),
  );
  return checked.flat();
}
