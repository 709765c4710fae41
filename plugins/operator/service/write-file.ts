import { writeFileAtomic } from "svc/sdk";
import type { ServiceFile } from "./definition.ts";

/** Writes a file of an installation, whole or not at all. */
export async function writeServiceFile({ path, mode, content, encoding }: ServiceFile): Promise<void> {
  await writeFileAtomic(path, encoding === undefined ? content : Buffer.from(content, encoding), { mode });
}
