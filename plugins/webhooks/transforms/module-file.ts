import { stat } from "node:fs/promises";
import { extname, join, posix, win32 } from "node:path";
import { isInside } from "svc/sdk/internal";
import { isWritableByAll, nearestReal, outsideProblem } from "./folder.ts";

const extensions = [".ts", ".mts", ".js", ".mjs", ".cjs"];

/** Checks a module's name without reading any file: absolute, of a drive or a URL, with NUL or `..` in it. Pure. */
export function isLocalName(module: string): boolean {
  if (posix.isAbsolute(module) || win32.isAbsolute(module) || module.includes("\0")) return false;
  if (/^[a-z][a-z0-9+.-]*:/i.test(module)) return false;
  return !module.split(/[/\\]/).includes("..");
}

/**
 * Finds the file of a transform, links resolved.
 * @param options.dir the folder as the operator knows it, for messages
 * @param options.real the folder, resolved
 * @returns its absolute path, or why it may not be loaded
 */
export async function findModule(
  module: string,
  { dir, real }: { dir: string; real: string },
): Promise<{ file: string } | { problem: string }> {
  if (!isLocalName(module)) return { problem: outsideProblem(dir, module) };
  const file = await nearestReal(join(real, module));
  if (!isInside(real, file)) return { problem: outsideProblem(dir, module) };
  if (![module, file].every((path) => extensions.includes(extname(path)))) {
    return { problem: `hook transform module must be a ${extensions.join(", ")} file: ${module}` };
  }
  const facts = await stat(file).catch(() => undefined);
  if (!facts) return { problem: `hook transform module is not there: ${join(dir, module)}` };
  if (!facts.isFile()) return { problem: `hook transform module is not a regular file: ${join(dir, module)}` };
  if (isWritableByAll(facts.mode))
    return { problem: `${join(dir, module)} can be written by everybody; run: chmod o-w ${join(dir, module)}` };
  return { file };
}
