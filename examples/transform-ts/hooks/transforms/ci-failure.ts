import type { HookTransformContext, HookTransformFields } from "svc/sdk";

/** The part of the build server's notice that matters here. */
interface Build {
  project: string;
  branch: string;
  status: "passed" | "failed";
  failedJobs: string[];
}

const MAX_JOBS = 5;

/**
 * Turns the notice of a build server into a task for an agent; builds that passed are nobody's business.
 * @returns null to skip the request (the sender gets 204); else the message and a name. The session is the mapping's business: a key that a transform
 *   returns counts as one of the sender's
 * @throws {Error} for a body that is no such notice (the sender gets 500, the reason is logged)
 */
export default function ciFailure({ payload }: HookTransformContext): HookTransformFields | null {
  const build = parseBuild(payload);
  if (build.status === "passed" || build.branch !== "main") return null;
  const shown = build.failedJobs.slice(0, MAX_JOBS);
  const more = build.failedJobs.length - shown.length;
  const jobs = `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return {
    name: `Build of ${build.project}`,
    message: `The build of ${build.project} failed on main in ${jobs || "no named job"}. Look up who changed it last and say what to check first.`,
  };
}

function parseBuild(payload: unknown): Build {
  const { project, branch, status, jobs = [] } = (payload ?? {}) as { [key: string]: unknown };
  if (typeof project !== "string" || typeof branch !== "string" || (status !== "passed" && status !== "failed") || !Array.isArray(jobs)) {
    throw new Error("expected a build notice with project, branch, status and jobs");
  }
  const failed = jobs.filter((job): job is { name: string } => job?.status === "failed" && typeof job.name === "string");
  return { project, branch, status, failedJobs: failed.map((job) => job.name) };
}
