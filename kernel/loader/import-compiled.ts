import { pathToFileURL } from "node:url";

/**
 * Imports a compiled module of a plugin through jiti's native path, which translates nothing and leaves the module to Node.
 * @returns its default export
 */
export async function importCompiled(file: string): Promise<unknown> {
  const { createJiti } = await import("jiti/native");
  const { href } = pathToFileURL(file);
  try {
    return (await createJiti(import.meta.url).import<{ default?: unknown }>(href)).default;
  } catch (error) {
    // When a package that it imports is missing, jiti says so of the module itself; Node names the package.
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") await import(href);
    throw error;
  }
}
