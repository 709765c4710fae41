/** One thing `svc secrets audit` found. No value is in it. */
export interface SecretFinding {
  code: "PLAINTEXT_FOUND" | "REF_UNRESOLVED" | "REF_SHADOWED" | "DUPLICATE_SECRET" | "FILE_PERMS";
  /** Config path; empty for a finding about a file. */
  path: string;
  /** Name of the config file, or the file it is about. */
  file: string;
  line?: number;
  message: string;
}

/** Result of `svc secrets audit`. */
export interface SecretsAudit {
  findings: SecretFinding[];
  /** References to programs that were not run. */
  skippedExec: number;
}

/** Answer of `secrets.reload`; lists hold owners as config paths, sorted. */
export interface SecretsReloadResult {
  ok: true;
  resolved: number;
  /** Faults and findings of this reload. */
  warningCount: number;
  stale: string[];
  unavailable: string[];
  changedOwners: string[];
}
