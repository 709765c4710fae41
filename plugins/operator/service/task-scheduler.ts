import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ServiceFile, type ServiceSpec, taskName } from "./definition.ts";
import { definitionFolders } from "./folders.ts";
import type { ServiceHost } from "./host.ts";
import type { FoundDefinition, ManagerState, ServiceManager, Step } from "./manager.ts";
import { failureOf } from "./run-command.ts";
import { runStep } from "./steps.ts";
import { parseGatewayCmd, parseTask, renderGatewayCmd, renderStartupLauncher, renderTask } from "./windows-task.ts";
import { writeServiceFile } from "./write-file.ts";

/** Exit codes of `schtasks /Create` for a user who may not create tasks. Its words depend on the language of the system. */
const deniedCodes: readonly (number | undefined)[] = [1, 5];

/** Windows: a scheduled task, or a launcher in the start-up folder of a user who may not create one. Both run `gateway.cmd`. */
export function createTaskScheduler(host: ServiceHost, { profile, stateDir }: { profile: string; stateDir: string }): ServiceManager {
  const name = taskName(profile);
  const cmdPath = join(stateDir, "gateway.cmd");
  const taskPath = join(stateDir, "service", "task.xml");
  const launcher: ServiceFile = {
    path: join(definitionFolders(host).user, `${name}.cmd`),
    mode: 0o644,
    content: renderStartupLauncher(cmdPath),
  };
  const schtasks = (...args: string[]): Step => ({ argv: ["schtasks", ...args] });
  const create = schtasks("/Create", "/F", "/TN", name, "/XML", taskPath);
  const start = schtasks("/Run", "/TN", name);
  const end = schtasks("/End", "/TN", name);
  const launch: Step = { argv: ["cmd", "/d", "/c", launcher.path] };
  const query = () => host.run(["schtasks", "/Query", "/TN", name, "/XML"]);
  const find = async (): Promise<FoundDefinition[]> => {
    const text = await readFile(cmdPath, "utf8").catch(() => undefined);
    if (text === undefined) return [];
    const at = { path: cmdPath, text, program: parseGatewayCmd(text), isForeign: false };
    const [task, hasLauncher] = await Promise.all([query(), readFile(launcher.path).then(Boolean, () => false)]);
    const isTask = task.code === 0 && parseTask(task.stdout) !== undefined;
    return [
      ...(isTask ? [{ ...at, manager: "schtasks" as const }] : []),
      ...(hasLauncher ? [{ ...at, manager: "startup-folder" as const }] : []),
    ];
  };

  return {
    label: name,
    steps: { before: [], after: [create, start] },
    files: (spec: ServiceSpec) => [
      { path: cmdPath, mode: 0o600, content: renderGatewayCmd(spec) },
      { path: taskPath, mode: 0o600, content: renderTask({ userId: userId(host), cmdPath, profile }), encoding: "utf16le" },
    ],
    find,
    async state(found): Promise<ManagerState> {
      // The process is known by its lock; the task only knows that it was started.
      const unknown: ManagerState = { isEnabled: true, status: "unknown", pid: undefined, lastExit: null, isStale: false };
      if (found.manager === "startup-folder") return unknown;
      const task = await query();
      if (task.code !== 0) return { ...unknown, isEnabled: false, problem: failureOf(task) };
      return { ...unknown, isEnabled: parseTask(task.stdout)?.isEnabled ?? false };
    },
    async preflight() {
      const answer = await host.run(["schtasks", "/Query", "/TN", name, "/XML"]);
      if (answer.problem !== undefined) await runStep(host, schtasks("/Query"));
    },
    async prepare() {
      const current = await find();
      if (current.some(({ manager }) => manager === "schtasks")) await runStep(host, { ...end, mayFail: true });
    },
    async activate() {
      const created = await host.run(create.argv);
      if (created.code === 0) {
        await rm(launcher.path, { force: true });
        await runStep(host, start);
      } else if (deniedCodes.includes(created.code)) {
        await writeServiceFile(launcher);
        await runStep(host, launch);
      } else await runStep(host, create);
    },
    start: async (found) => void (await runStep(host, found.manager === "schtasks" ? start : launch)),
    async stop(found) {
      if (found.manager === "schtasks") await runStep(host, { ...end, mayFail: true });
    },
    async restart(found) {
      if (found.manager === "schtasks") await runStep(host, { ...end, mayFail: true });
      await runStep(host, found.manager === "schtasks" ? start : launch);
    },
    async uninstall() {
      const all = await find();
      if (all.some(({ manager }) => manager === "schtasks")) await runStep(host, schtasks("/Delete", "/F", "/TN", name));
      const paths = [launcher.path, taskPath, cmdPath];
      for (const path of paths) await rm(path, { force: true });
      return paths;
    },
    advice: async () => [],
  };
}

function userId({ env, user }: ServiceHost): string {
  return env.USERDOMAIN ? `${env.USERDOMAIN}\\${user}` : user;
}
