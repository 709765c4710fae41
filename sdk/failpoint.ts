type Failpoint = (name: string) => void | Promise<void>;

let active: Failpoint | undefined;

/** Tests only: called at each named step of a durable write, such as `config.after-fsync`; throwing fails it there. */
export function setFailpoint(fn: Failpoint | undefined): void {
  active = fn;
}

/** A named step has been reached. Undefined when no test listens: there is nothing to wait for then. */
export function reached(name: string): Promise<void> | undefined {
  return active && told(active, name);
}

async function told(listener: Failpoint, name: string): Promise<void> {
  await listener(name);
}

/**
 * Arms failpoints from the environment, for tests that need a process of its own:
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
