import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";

/** Less than a hook or a test of the project has, so that what could not be made is told by name. */
const LIMIT_MS = 80_000;

/**
 * Something that several test files only read, made by the first that asks; the others wait for it. It goes with the run of the tests.
 * @returns its folder
 */
export async function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const own = join(inject("madeOnce"), name);
  const [folder, end] = [join(own, "made"), join(own, "end")];
  await mkdir(inject("madeOnce"), { recursive: true });
  const isFirst = await mkdir(own).then(() => true, isThere);
  if (isFirst) {
    const failure = await mkdir(folder)
      .then(() => make(folder))
      .then(
        () => "",
        (error: unknown) => `${error}`,
      );
    await writeFile(`${end}.new`, failure);
    await rename(`${end}.new`, end);
  } else await eventually(() => stat(end), LIMIT_MS);
  const failure = await readFile(end, "utf8");
  if (failure !== "") throw new Error(`${name} could not be made: ${failure}`);
  return folder;
}

function isThere(error: NodeJS.ErrnoException): false {
  if (error.code !== "EEXIST") throw error;
  return false;
}
