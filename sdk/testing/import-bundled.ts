import { pathToFileURL } from "node:url";

/**
 * Imports the default export of a module of a bundled plugin as the test runner does it, which translates each file once for all its processes. Modules are
 * those that unit tests of the plugin import.
 */
export async function importBundled(file: string): Promise<unknown> {
  return ((await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default?: unknown }).default;
}
