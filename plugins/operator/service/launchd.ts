import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchdLabel, type ServiceSpec, STOP_TIMEOUT_MS } from "./definition.ts";
import { definitionFolders } from "./folders.ts";
import type { ServiceHost } from "./host.ts";
import { parsePlist, renderPlist } from "./launchd-plist.ts";
import type { FoundDefinition, ManagerState, ServiceManager, Step } from "./manager.ts";
import { failureOf } from "./run-command.ts";
import { runStep } from "./steps.ts";

const COMMAND_LIMIT_MS = 45_000;
const POLL_MS = 200;

/** launchd: an agent of the user. */
export function createLaunchd(host: ServiceHost, profile: string): ServiceManager {
  const label = launchdLabel(profile);
  const folders = definitionFolders(host);
  const path = join(folders.user, `${label}.plist`);
  const domain = `gui/${host.uid}`;
  const service = `${domain}/${label}`;
  const launchctl = (...args: string[]): Step => ({ argv: ["launchctl", ...args] });
  const load = [launchctl("enable", service), launchctl("bootstrap", domain, path)];
  const steps = { before: [{ ...launchctl("bootout", service), mayFail: true }], after: load };
  const run = async (list: readonly Step[]) => {
    for (const step of list) await runStep(host, step, { timeoutMs: COMMAND_LIMIT_MS });
  };
  const print = () => host.run(["launchctl", "print", service]);
  const unload = async () => {
    await run(steps.before);
    // The job is gone for launchd before its process is.
    for (let waited = 0; waited < STOP_TIMEOUT_MS && (await print()).code === 0; waited += POLL_MS) await sleep(POLL_MS);
  };

  return {
    label,
    steps,
    files: (spec: ServiceSpec) => [{ path, mode: 0o644, content: renderPlist(spec) }],
    async find() {
      const system = folders.system.map((folder) => readAgent(join(folder, `${label}.plist`), true));
      return (await Promise.all([...system, readAgent(path, false)])).filter((found) => found !== undefined);
    },
    async state(): Promise<ManagerState> {
      const [job, disabled] = await Promise.all([print(), host.run(["launchctl", "print-disabled", domain])]);
      return toState({ job, disabled: disabled.stdout, label });
    },
    async preflight() {
      const answer = await host.run(["launchctl", "print-disabled", domain]);
      if (answer.problem !== undefined) await runStep(host, launchctl("print-disabled", domain));
    },
    prepare: unload,
    async activate() {
      await run(load);
    },
    async start() {
      if ((await print()).code === 0) await run([launchctl("kickstart", service)]);
      else await run(load);
    },
    async stop() {
      await run([launchctl("disable", service)]);
      await unload();
    },
    async restart(_found, { fromInside }) {
      if (fromInside) return handOver(host, ["launchctl", "kickstart", "-k", service]);
      if (!(await runStep(host, { ...launchctl("kickstart", "-k", service), mayFail: true }, { timeoutMs: COMMAND_LIMIT_MS })))
        await run(load);
    },
    async uninstall(found) {
      await unload();
      await rm(found.path, { force: true });
      return [found.path];
    },
    advice: async () => [],
  };
}

/** The gateway ends its children when it is ended: only a process that is none of them can start it again. */
function handOver({ env }: Pick<ServiceHost, "env">, [command = "", ...args]: readonly string[]): void {
  const child = spawn(command, args, { env: { ...env }, detached: true, stdio: "ignore" });
  child.on("error", () => undefined);
  child.unref();
}

/** State of a job by what `launchctl print` says. Pure. */
export function toState(of: { job: Awaited<ReturnType<ServiceHost["run"]>>; disabled: string; label: string }): ManagerState {
  const { job, disabled, label } = of;
  const isDisabled = disabled.split("\n").some((line) => line.includes(`"${label}"`) && /=>\s*(?:true|disabled)/.test(line));
  const base = { isEnabled: !isDisabled, isStale: false };
  if (job.problem !== undefined) return { ...base, status: "unknown", pid: undefined, lastExit: null, problem: failureOf(job) };
  if (job.code !== 0) return { ...base, status: "stopped", pid: undefined, lastExit: null };
  const pid = Number(/^[ \t]*pid = (\d+)/m.exec(job.stdout)?.[1]);
  const exit = /^[ \t]*last exit code = (-?\d+)/m.exec(job.stdout)?.[1];
  const lastExit = exit === undefined ? null : Number(exit);
  if (pid > 0) return { ...base, status: "running", pid, lastExit: null };
  return { ...base, status: lastExit === null || lastExit === 0 ? "stopped" : "failed", pid: undefined, lastExit };
}

async function readAgent(path: string, isForeign: boolean): Promise<FoundDefinition | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : { manager: "launchd", path, text, program: parsePlist(text), isForeign };
}
