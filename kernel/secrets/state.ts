/** A secret in use that has no fresh value: a ref that failed, or a variable that is not set. The reason says what failed, never a value or an exec id. */
export interface SecretFault {
  /** Dotted config path of the secret. */
  path: string;
  /** Part of the gateway that cannot work without it, as a config path: `models.providers.acme`, `gateway.auth`. */
  owner: string;
  reason: string;
}

/** State of all SecretRefs of a config at one activation. */
export interface SecretState {
  /** Refs with a fresh value. */
  resolved: number;
  /** Kept their previous value: ref and provider are unchanged, but asking failed. */
  stale: SecretFault[];
  /** Have no value. */
  unavailable: SecretFault[];
  /** Owners with a value that differs from the previous activation, sorted. */
  changedOwners: string[];
}

/** One ref of a snapshot. Holds its value: never printed, sent or written. */
export interface ResolvedRef {
  owner: string;
  /** Ref and provider config; the same fingerprint asks for the same secret. */
  fingerprint: string;
  /** Absent when it could not be had. */
  value?: string;
}
