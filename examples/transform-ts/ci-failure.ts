/** What a transform is called with. */
interface HookContext {
  /** The request body, whatever the sender sent. */
  payload: unknown;
  /** Lower-case names; those with credentials are empty. */
  headers: Record<string, string>;
  url: URL;
  /** Sub-path below the hooks path, without outer slashes. */
  path: string;
}

/** Fields a transform may set; what it leaves out comes from the mapping's templates. */
interface AgentAction {
  kind: "agent";
  message: string;
  name?: string;
  sessionKey?: string;
  deliver?: boolean;
}

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
 * @returns null to skip the request (the sender gets 204)
 * @throws {Error} for a body that is no such notice (the sender gets 500, the reason is logged)
 */
export default function ciFailure({ payload }: HookContext): AgentAction | null {
  const build = parseBuild(payload);
  if (build.status === "passed" || build.branch !== "main") return null;
  const shown = build.failedJobs.slice(0, MAX_JOBS);
  const more = build.failedJobs.length - shown.length;
  const jobs = `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return {
    kind: "agent",
    name: `Build of ${build.project}`,
    message: `The build of ${build.project} failed on main in ${jobs || "no named job"}. Look up who changed it last and say what to check first.`,
    sessionKey: `hook:ci:${build.project}`,
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
