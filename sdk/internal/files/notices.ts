import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../files.ts";
import type { DoctorFinding } from "../../hooks.ts";
import { isRecord } from "../../is-record.ts";
import { readRegularFile } from "./read-regular.ts";

/** An event that an operator should hear of later, too: kept as a file, so that `svc doctor` shows it while no gateway runs. */
export interface Notice extends Omit<DoctorFinding, "fixable"> {
  /** When it happened, epoch ms. */
  at: number;
  /** After this time it is not shown any more; epoch ms. */
  until?: number;
}

const maxNotices = 100;
const MAX_BYTES = 65_536;

/** Folder of all notices of a state directory. */
export function noticesFolder(stateDir: string): string {
  return join(stateDir, "gateway", "notices");
}

/** The file of a notice. `svc doctor --fix` removes it: the operator has read it. */
export function noticePath(stateDir: string, id: string): string {
  return join(noticesFolder(stateDir), `${id.replace(/[^a-z0-9-]+/g, "-")}.json`);
}

/** Writes a notice; one of the same id is replaced. */
export async function writeNotice(stateDir: string, notice: Notice): Promise<void> {
  await writeFileAtomic(noticePath(stateDir, notice.id), JSON.stringify(notice));
}

/** Removes a notice, if it is there. */
export async function dropNotice(stateDir: string, id: string): Promise<void> {
  await rm(noticePath(stateDir, id), { force: true });
}

/** The notices that are still to be shown, at most 100. A file that cannot be read is skipped. */
export async function readNotices(stateDir: string, now: number): Promise<Notice[]> {
  const folder = noticesFolder(stateDir);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json") && !name.startsWith("."));
  const read = await Promise.all(names.slice(0, maxNotices).map((name) => readNotice(join(folder, name))));
  return read.flatMap((notice) => (notice && (notice.until === undefined || notice.until > now) ? [notice] : []));
}

async function readNotice(path: string): Promise<Notice | undefined> {
  try {
    const value: unknown = JSON.parse(String(await readRegularFile(path, { maxBytes: MAX_BYTES })));
    return isNotice(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const severities: readonly unknown[] = ["info", "warning", "error"] satisfies ReadonlyArray<Notice["severity"]>;

function isNotice(value: unknown): value is Notice {
  if (!isRecord(value)) return false;
  const { id, severity, message, at, until = 0, fix = "", path = "" } = value;
  const areTexts = [id, message, fix, path].every((text) => typeof text === "string");
  return areTexts && [at, until].every((time) => typeof time === "number") && severities.includes(severity);
}
