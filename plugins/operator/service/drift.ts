import type { InstalledProgram, ServiceSpec } from "./definition.ts";
import { isSupported, NODE_FLOOR } from "./node-choice.ts";

/** A way in which an installation differs from what it should be. */
export interface DriftIssue {
  id:
    | "service/port-drift"
    | "service/entry-drift"
    | "service/node-missing"
    | "service/env-secret"
    | "service/legacy-unit"
    | "service/definition"
    | "service/duplicate"
    | "service/linger"
    | "service/system-unit-owner";
  severity: "info" | "warning" | "error";
  message: string;
  /** Command that ends it. */
  fix: string;
  /** A new installation ends it. */
  isReinstall: boolean;
}

/** Facts of an installation. */
export interface DriftFacts {
  path: string;
  text: string;
  program: InstalledProgram | undefined;
  /** Specification of what this command would install. */
  expected: ServiceSpec;
  /** Renders a definition: the same for the same spec. */
  render(spec: ServiceSpec): string;
  /** SHA-256 of the definition as it was installed; undefined without a record. */
  recordedSha256: string | undefined;
  sha256: string;
  entryExists: boolean;
  /** Of the node that is installed; undefined when it does not run. */
  nodeVersion: string | undefined;
  /** The supervisor has loaded an older one. */
  isStale: boolean;
  /** `svc gateway install --force` in this profile. */
  reinstall: string;
}

/** Compares an installation with what it should be. Pure. */
export function driftOf(facts: DriftFacts): DriftIssue[] {
  const { program, path, reinstall } = facts;
  const issue = (id: DriftIssue["id"], severity: DriftIssue["severity"], message: string): DriftIssue => {
    return { id, severity, message, fix: reinstall, isReinstall: true };
  };
  if (program === undefined) return [issue("service/definition", "error", `${path} starts no gateway`)];
  return [...programIssues(facts, program, issue), ...textIssues(facts, program, issue)];
}

type MakeIssue = (id: DriftIssue["id"], severity: DriftIssue["severity"], message: string) => DriftIssue;

function programIssues({ expected, entryExists, nodeVersion }: DriftFacts, program: InstalledProgram, issue: MakeIssue): DriftIssue[] {
  const found: DriftIssue[] = [];
  if (expected.port !== 0 && program.port !== expected.port) {
    found.push(issue("service/port-drift", "warning", `installed ${program.port ?? "without a port"}, config says ${expected.port}`));
  }
  if (!entryExists) found.push(issue("service/entry-drift", "error", `the program ${program.entryPath} is gone`));
  else if (program.entryPath !== expected.entryPath) {
    found.push(issue("service/entry-drift", "warning", `it starts ${program.entryPath}, and this is ${expected.entryPath}`));
  }
  if (nodeVersion === undefined) found.push(issue("service/node-missing", "error", `${program.nodePath} is gone, or is no Node that runs`));
  else if (!isSupported(nodeVersion)) {
    found.push(issue("service/node-missing", "error", `${program.nodePath} is Node ${nodeVersion}; ${NODE_FLOOR} or newer is needed`));
  }
  return found;
}

function textIssues(facts: DriftFacts, program: InstalledProgram, issue: MakeIssue): DriftIssue[] {
  const found: DriftIssue[] = [];
  const secrets = secretsIn(program);
  if (secrets.length > 0) {
    const message = `${facts.path} holds ${secrets.join(", ")}, which goes stale and which others can read; a secret belongs into the config or .env`;
    found.push(issue("service/env-secret", "error", message));
  }
  // Differences of port, node and entry alone have been said; paths and PATH are those of the shell that installed it.
  const { port = facts.expected.port, nodePath, entryPath, env } = program;
  const pathEnv = Object.fromEntries(Object.entries(env).filter(([name]) => pathNames.has(name)));
  const same = facts.render({ ...facts.expected, port, nodePath, entryPath, pathEnv, searchPath: env.PATH ?? facts.expected.searchPath });
  if (facts.text !== same && secrets.length === 0) {
    const isOwn = facts.recordedSha256 !== undefined && facts.sha256 === facts.recordedSha256;
    found.push(
      isOwn
        ? issue("service/legacy-unit", "warning", `${facts.path} was written by another version of svc, or from another environment`)
        : issue("service/definition", "warning", `${facts.path} was edited since it was installed`),
    );
  }
  if (facts.isStale) found.push(issue("service/definition", "warning", `the supervisor has not loaded ${facts.path} as it is now`));
  return found;
}

/** Variables that lead a gateway to its state and config. */
export const pathNames: ReadonlySet<string> = new Set(["SVC_HOME", "SVC_PROFILE", "SVC_STATE_DIR", "SVC_CONFIG_PATH"]);

/** Names of secrets in arguments and variables of a definition. */
function secretsIn({ arguments: args, env }: InstalledProgram): string[] {
  const flags = args.filter((arg) => /^--(token|password)(=|$)/.test(arg)).map((arg) => arg.split("=")[0] as string);
  return [...flags, ...Object.keys(env).filter((name) => /(TOKEN|PASSWORD|SECRET|API_?KEY|CREDENTIAL)/i.test(name))];
}
