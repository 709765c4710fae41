import { readdir, readFile } from "node:fs/promises";

/** Most descriptors this process may have open; undefined where the system does not say (anything but Linux). */
export async function readDescriptorLimit(): Promise<number | undefined> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

/** Descriptors that are open now; undefined where the system does not say. */
export async function countDescriptors(): Promise<number | undefined> {
  const names = await readdir("/proc/self/fd").catch(() => undefined);
  return names?.length;
}
