/** The failpoints of `SVC_FAILPOINT`, heeded only with `SVC_TEST=1`. */
export function plannedFailpoint(): string | undefined {
  return process.env.SVC_TEST === "1" ? process.env.SVC_FAILPOINT : undefined;
}

/** The file that `SVC_STORAGE_FAULT_FILE` names, heeded only with `SVC_TEST=1`; what may stand in it: `faultAt`. */
export function plannedFaultFile(): string | undefined {
  return process.env.SVC_TEST === "1" ? process.env.SVC_STORAGE_FAULT_FILE : undefined;
}

/** `SVC_STORE_GUARD_MS`, heeded only with `SVC_TEST=1`: how often a real process looks whether the file of its database is in its place. */
export function testGuardMs(): number | undefined {
  const ms = Number(process.env.SVC_TEST === "1" ? process.env.SVC_STORE_GUARD_MS : undefined);
  return Number.isInteger(ms) && ms > 0 ? ms : undefined;
}
