import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ServiceSpec, unitName } from "./definition.ts";
import { errors } from "./errors.ts";
import { definitionFolders } from "./folders.ts";
import type { ServiceHost } from "./host.ts";
import type { FoundDefinition, ManagerState, ServiceManager, Step } from "./manager.ts";
import { failureOf } from "./run-command.ts";
import { runStep } from "./steps.ts";
import { parseUnit, renderUnit } from "./systemd-unit.ts";

/** Longest wait for `systemctl` to stop a gateway: what the unit allows, and a margin. */
const STOP_LIMIT_MS = 45_000;
const properties = ["ActiveState", "MainPID", "UnitFileState", "NeedDaemonReload", "ExecMainStatus"];

/** systemd: a unit of the user, or one of the system that the operator wrote. */
export function createSystemd(host: ServiceHost, profile: string): ServiceManager {
  const unit = `${unitName(profile)}.service`;
  const folders = definitionFolders(host);
  const path = join(folders.user, unit);
  const user = (...args: string[]): Step => ({ argv: ["systemctl", "--user", ...args] });
  const afresh = (verb: string, found?: FoundDefinition): Step[] => {
    const scope = found?.isForeign ? [] : ["--user"];
    return [{ argv: ["systemctl", ...scope, "reset-failed", unit], mayFail: true }, { argv: ["systemctl", ...scope, verb, unit] }];
  };
  const steps = {
    before: [],
    after: [user("daemon-reload"), { ...user("reset-failed", unit), mayFail: true }, user("enable", unit), user("restart", unit)],
  };
  const run = async (list: readonly Step[], found?: FoundDefinition) => {
    const hint = found?.isForeign && host.uid !== 0 ? "; it is a unit of the system: run this command as root" : "";
    for (const step of list) await runStep(host, step, { timeoutMs: STOP_LIMIT_MS, hint });
  };

  return {
    label: unit,
    steps,
    files: (spec: ServiceSpec) => [{ path, mode: 0o644, content: renderUnit(spec) }],
    async find() {
      const system = folders.system.map((folder) => readUnit(join(folder, unit), true));
      return (await Promise.all([...system, readUnit(path, false)])).filter((found) => found !== undefined);
    },
    async state(found): Promise<ManagerState> {
      const scope = found.isForeign ? [] : ["--user"];
      const answer = await host.run(["systemctl", ...scope, "show", unit, "--property", properties.join(",")]);
      if (answer.code !== 0) return unreachable(failureOf(answer));
      return toState(answer.stdout);
    },
    async preflight() {
      const answer = await host.run(["systemctl", "--user", "show-environment"]);
      if (answer.code === 0) return;
      const reason = failureOf(answer);
      if (answer.problem === undefined) throw errors.serviceBus({ reason, uid: host.uid, user: host.user });
      throw errors.serviceCommand({ command: "systemctl", reason });
    },
    prepare: async () => undefined,
    activate: () => run(steps.after),
    start: (found) => run(afresh("start", found), found),
    stop: (found) => run([{ argv: ["systemctl", ...(found.isForeign ? [] : ["--user"]), "stop", unit] }], found),
    async restart(found, { fromInside }) {
      // Waiting for the end of one's own process group is no use.
      const [reset, restart] = afresh("restart", found) as [Step, Step];
      await run([reset, fromInside ? { argv: [...restart.argv.slice(0, -2), "--no-block", ...restart.argv.slice(-2)] } : restart], found);
    },
    async uninstall(found) {
      await run([{ ...user("disable", "--now", unit), mayFail: true }]);
      await rm(found.path, { force: true });
      await run([user("daemon-reload"), { ...user("reset-failed", unit), mayFail: true }]);
      return [found.path];
    },
    async advice() {
      return (await lingers(host)) === false
        ? [`the gateway ends when ${host.user} logs out; let it run on with: loginctl enable-linger ${host.user}`]
        : [];
    },
  };
}

/** Do the user's services run without a session? Undefined when the system does not say. */
export async function lingers(host: Pick<ServiceHost, "run" | "user">): Promise<boolean | undefined> {
  const { code, stdout } = await host.run(["loginctl", "show-user", host.user, "-p", "Linger"]);
  const value = /^Linger=(yes|no)$/m.exec(stdout)?.[1];
  return code === 0 && value !== undefined ? value === "yes" : undefined;
}

/** State of a unit by what `systemctl show` prints. Pure. */
export function toState(text: string): ManagerState {
  const of = (name: string) =>
    text
      .split("\n")
      .find((line) => line.startsWith(`${name}=`))
      ?.slice(name.length + 1) ?? "";
  const pid = Number(of("MainPID"));
  const active = of("ActiveState");
  const isRunning = active === "active" || active === "deactivating" || (active === "activating" && pid > 0);
  const exit = Number(of("ExecMainStatus"));
  return {
    isEnabled: of("UnitFileState").startsWith("enabled"),
    status: isRunning ? "running" : active === "inactive" ? "stopped" : active === "" ? "unknown" : "failed",
    pid: pid > 0 ? pid : undefined,
    lastExit: of("ExecMainStatus") === "" || isRunning ? null : exit,
    isStale: of("NeedDaemonReload") === "yes",
  };
}

function unreachable(problem: string): ManagerState {
  return { isEnabled: false, status: "unknown", pid: undefined, lastExit: null, isStale: false, problem };
}

async function readUnit(path: string, isForeign: boolean): Promise<FoundDefinition | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  return { manager: isForeign ? "systemd-system" : "systemd-user", path, text, program: parseUnit(text), isForeign };
}
