import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** systemd unit that a process belongs to. */
export interface ServiceUnit {
  name: string;
  isOfUser: boolean;
}

/** Longest wait for systemd: what a unit of svc allows a stop, and a margin. */
const STOP_LIMIT_MS = 45_000;

/** The unit of svc in the text of `/proc/<pid>/cgroup`; undefined for a process of anything else. Pure. */
export function unitIn(cgroup: string): ServiceUnit | undefined {
  const path = cgroup.split("\n").find((line) => line.startsWith("0::") || line.includes(":name=systemd:")) ?? "";
  const name = path.split("/").findLast((part) => /^svc-gateway(?:-[a-z0-9_-]+)?\.service$/.test(part));
  return name === undefined ? undefined : { name, isOfUser: /\/user@\d+\.service\//.test(path) };
}

/**
 * Stops the unit of svc that a process belongs to: its supervisor would start a process that a signal ended again.
 * @returns the unit; undefined when there is none, this process is in it too, or systemd did not stop it
 */
export async function stopServiceOf(pid: number): Promise<string | undefined> {
  const [unit, own] = await Promise.all(
    [pid, "self"].map(async (id) => unitIn(await readFile(`/proc/${id}/cgroup`, "utf8").catch(() => ""))),
  );
  if (!unit || unit.name === own?.name) return undefined;
  const args = [...(unit.isOfUser ? ["--user"] : []), "stop", unit.name];
  const hasStopped = await promisify(execFile)("systemctl", args, { timeout: STOP_LIMIT_MS }).then(
    () => true,
    () => false,
  );
  return hasStopped ? unit.name : undefined;
}
