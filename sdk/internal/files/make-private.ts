import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { sharedErrors } from "../errors.ts";

/**
 * Gives every file below a folder mode 0600 and every folder 0700, whatever put them there.
 * @throws {SvcError} `unsafe-file` for a link or anything else that is no file
 */
export async function makePrivate(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const facts = await lstat(path);
    if (facts.isDirectory()) await makePrivate(path);
    else if (facts.isFile()) await chmod(path, 0o600);
    else throw sharedErrors.unsafeFile({ path, reason: "is a link or no regular file" });
  }
}
