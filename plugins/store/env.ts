/** The failpoints of `SVC_FAILPOINT`, heeded only with `SVC_TEST=1`. */
export function plannedFailpoint(): string | undefined {
  return process.env.SVC_TEST === "1" ? process.env.SVC_FAILPOINT : undefined;
}

/** The file that `SVC_STORAGE_FAULT_FILE` names, heeded only with `SVC_TEST=1`; what may stand in it: `faultAt`. */
export function plannedFaultFile(): string | undefined {
  return process.env.SVC_TEST === "1" ? process.env.SVC_STORAGE_FAULT_FILE : undefined;
}
