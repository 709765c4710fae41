/** The failpoints of `SVC_FAILPOINT`, heeded only with `SVC_TEST=1`. */
export function plannedFailpoint(): string | undefined {
  return process.env.SVC_TEST === "1" ? process.env.SVC_FAILPOINT : undefined;
}
