import { basename } from "node:path";
import { pluginIdPattern } from "../../sdk/manifest.ts";
import { parseVersion } from "../../sdk/version-range.ts";

/** Pattern of the module names allowed in `plugins.load.paths`. */
export const moduleName = /\.[cm]?[jt]s$/;

/** The part of a source in which `definePlugin` says who the plugin is. */
const HEAD = 4_096;

/**
 * Id and version that a plugin of one file gives to `definePlugin`, read from its text because they must be known before any of its code runs. The loader
 * compares them with what the code then says. Without literals there: the file's name and 0.0.0.
 */
export function identityOf(file: string, source: string): { id: string; version: string } {
  const at = source.search(/\bdefinePlugin\s*(?:<[^<>]*>\s*)?\(\s*\{/);
  const head = at === -1 ? "" : source.slice(at, at + HEAD);
  const id = /\bid\s*:\s*["'`]([^"'`\n]+)["'`]/.exec(head)?.[1];
  const version = /\bversion\s*:\s*["'`]([^"'`\n]+)["'`]/.exec(head)?.[1];
  return {
    id: id !== undefined && pluginIdPattern.test(id) ? id : basename(file).replace(moduleName, ""),
    version: version !== undefined && parseVersion(version) ? version : "0.0.0",
  };
}
