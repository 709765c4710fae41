import { rm, stat } from "node:fs/promises";
import type { EngineHome } from "./engine-home.ts";

/** Deletes the index of an engine; its collections stay in its config, and the next update rebuilds it. */
export async function removeIndex({ database }: Pick<EngineHome, "database">): Promise<boolean> {
  const isThere = await stat(database).then(
    () => true,
    () => false,
  );
  for (const end of ["-wal", "-shm", ""]) await rm(`${database}${end}`, { force: true });
  return isThere;
}
