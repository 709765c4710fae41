import { setFailpoint } from "../../sdk/failpoint.ts";

/**
 * Arms failpoints from the environment, for tests that need a process of their own; a release has none.
 * `SVC_FAILPOINT="config.after-fsync=kill;config.after-lock=ENOSPC@2"` together with `SVC_TEST=1`. `@n` = at the n-th time; the action is `kill`
 * (SIGKILL to the own process) or the code of the error that is thrown.
 */
export function armFailpoints(env: Readonly<Record<string, string | undefined>>): void {
  if (env.SVC_TEST !== "1" || !env.SVC_FAILPOINT) return;
  const points = new Map(env.SVC_FAILPOINT.split(";").map((part) => toPoint(part)));
  setFailpoint(async (name) => {
    const point = points.get(name);
    if (!point) return;
    point.left -= 1;
    if (point.left !== 0) return;
    if (point.action !== "kill") throw Object.assign(new Error(`${point.action}: failpoint ${name}`), { code: point.action });
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  });
}

function toPoint(text: string): [string, { action: string; left: number }] {
  const match = /^([\w.-]+)=(\w+)(?:@(\d+))?$/.exec(text.trim());
  return match ? [match[1] as string, { action: match[2] as string, left: Number(match[3] ?? 1) }] : ["", { action: "", left: 0 }];
}
