import { stat } from "node:fs/promises";

/** The ring of a config file and the copy a gateway ran with. */
const suffixes = [".bak", ".bak.1", ".bak.2", ".bak.3", ".bak.4", ".last-good"];

/** Absolute path of the youngest copy of a config file that holds anything; undefined when there is none. */
export async function newestBackup(path: string): Promise<string | undefined> {
  const found = await Promise.all(
    suffixes.map(async (suffix) => {
      const file = await stat(path + suffix).catch(() => undefined);
      return file?.isFile() && file.size > 0 ? [{ path: path + suffix, at: file.mtimeMs }] : [];
    }),
  );
  return found.flat().sort((a, b) => b.at - a.at)[0]?.path;
}
