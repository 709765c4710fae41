/** Answer of a health or doctor check. */
export interface CheckResult {
  ok: boolean;
  level: "info" | "warning" | "error";
  message: string;
  /** Remedy, or the command for it. */
  fix?: string;
}

/** A part of `health`, shown as `plugin/<pluginId>/<id>`; run with the health snapshot, 5 s at most. */
export interface HealthCheck {
  id: string;
  run(signal: AbortSignal): CheckResult | Promise<CheckResult>;
}

/** A finding of `svc doctor`, shown as `plugin/<pluginId>/<id>`; run on demand, 5 s at most. */
export interface DoctorCheck {
  id: string;
  run(signal: AbortSignal): CheckResult | Promise<CheckResult>;
}
