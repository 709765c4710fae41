import type { SvcError } from "svc/sdk";
import { installErrors } from "../errors.ts";

/** Source of a plugin, as the operator names it. */
export type PluginSource = { kind: "npm"; name: string; wanted: string | undefined } | { kind: "path"; path: string };

const npmName = /^(?:@[a-z0-9][a-z0-9._~-]{0,100}\/)?[a-z0-9][a-z0-9._~-]{0,213}$/;
/** A version, a range or a tag; nothing with `:` or `/` in it, which npm would take for a URL, a folder or a git repository. */
const npmWanted = /^[\w.^~*+<>=| -]{1,100}$/;

/**
 * Reads `npm:name`, `npm:@scope/name@range`, or a path of a folder or a `.tgz`.
 * @throws {SvcError} `plugin-source-invalid`
 */
export function parseSpec(spec: string): PluginSource {
  if (!spec.startsWith("npm:")) {
    if (spec.trim() === "" || /^[a-z][a-z0-9+.-]+:/i.test(spec))
      throw invalid(spec, "expected a folder, a .tgz file or npm:<name>[@<version>]");
    return { kind: "path", path: spec };
  }
  const text = spec.slice("npm:".length);
  const at = text.indexOf("@", 1);
  const [name, wanted] = at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
  if (!npmName.test(name)) throw invalid(spec, "expected the name of an npm package after npm:");
  if (wanted !== undefined && (!npmWanted.test(wanted) || wanted.startsWith("-")))
    throw invalid(spec, "expected a version, a range or a tag after @");
  return { kind: "npm", name, wanted };
}

function invalid(spec: string, reason: string): SvcError {
  return installErrors.pluginSourceInvalid({ spec, reason });
}
