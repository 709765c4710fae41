import { defineErrors } from "svc/sdk";

/** Codes of this plugin. */
export const cronErrors = defineErrors({
  "cron-job-not-found": {
    message: 'cron: no job "{jobId}"; svc cron list --all shows those there are',
    http: 404,
    rpc: "INVALID_REQUEST",
    details: "CRON_JOB_NOT_FOUND",
    expose: { jobId: { type: "string" } },
  },
  "cron-schedule": { message: "cron: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "cron-job": { message: "cron: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "cron-jobs-full": {
    message: "cron: there are {max} jobs already; remove one first",
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "cron-off": {
    message: "cron: jobs are not run at the moment: cron.enabled is false, SVC_SKIP_CRON is 1, or the gateway is in safe mode",
    http: 503,
    rpc: "UNAVAILABLE",
  },
  "cron-tool": { message: "{reason}", http: 400, rpc: "INVALID_REQUEST" },
});
