import { isAbsolute, join, resolve } from "node:path";

/** The file that a record of this moment belongs to: the configured one (relative: in the state folder), or one for each local day. */
export function logFilePath(stateDir: string, file: string | undefined, at: Date): string {
  if (file !== undefined) return isAbsolute(file) ? file : resolve(stateDir, file);
  return join(stateDir, "logs", `gateway-${localDay(at)}.jsonl`);
}

/** `2026-03-01`, where the gateway is. */
export function localDay(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
