import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, extname, relative, resolve } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isInside } from "../../sdk/internal/files/inside.ts";
import type { PluginProblem } from "../../sdk/types/plugin-candidate.ts";

/** A plugin with more local modules than this is not followed to its end, and not loaded. */
const MAX_MODULES = 2_000;
/** Text looked through between two turns of the event loop; neighbours overlap by what one import statement may span. */
const SLICE = 262_144;
const OVERLAP = 4_096;
const sources = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);
const extensions = ["", ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json"];

/** End of the head of a statement: the quote before a specifier, or something that no head of an import has. */
const headEnd = /["'`;]/g;
/** `import` or `export` where a statement may begin. */
const keyword = /(?:^|[;}])[ \t]*(?:import|export)\b/m;
const bareImport = /(?:^|[;}])[ \t]*(?:import|export)$/;
const quoted = /([^"'\r\n]{1,1000})["']/y;
/** `import("x")` and `require("x")`. */
const call = /\b(?:import|require)\s*\(\s*["'`]([^"'`$\r\n]{1,1000})["'`]/g;

/** Entry of the SDK that the plugins of svc itself share. */
const INTERNAL = "svc/sdk/internal";

/**
 * Follows a plugin's local imports from its entry and reports the first one that leads out of its folder, through links too, or to `svc/sdk/internal`. Packages
 * (`import "zod"`) are the package manager's business; a specifier that is computed at run time cannot be seen from here.
 * @param root resolved folder of the plugin
 * @param entry resolved module inside it
 */
export async function checkLocalImports(root: string, entry: string): Promise<PluginProblem | undefined> {
  const seen = new Set([entry]);
  for (const file of seen) {
    if (seen.size > MAX_MODULES) return escapes(`it has more than ${MAX_MODULES} modules of its own`, "bundle it into fewer files");
    if (!sources.has(extname(file))) continue;
    const all = await importsIn(await readFile(file, "utf8"));
    if (all.has(INTERNAL)) return unpromised(relative(root, file));
    for (const specifier of localOnly(all)) {
      const target = await resolveLocal(specifier, dirname(file));
      if (!target) continue;
      const real = await realpath(target);
      if (!isInside(root, real)) {
        const reason = `${relative(root, file)} imports "${specifier}", which is outside of its folder`;
        return escapes(reason, "keep every file of a plugin below its own folder");
      }
      seen.add(real);
    }
  }
  return undefined;
}

/** Specifiers of local files in a module's text. Comments at the beginning of a line do not count. */
export async function specifiersIn(text: string): Promise<Set<string>> {
  return localOnly(await importsIn(text));
}

function localOnly(specifiers: Iterable<string>): Set<string> {
  return new Set([...specifiers].filter((specifier) => /^(\.|\/|file:|[a-zA-Z]:[/\\])/.test(specifier)));
}

async function importsIn(text: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (let from = 0; from < text.length; from += SLICE) {
    if (from > 0) await turn();
    const slice = text.slice(from, from + SLICE + OVERLAP);
    for (const specifier of statementSpecifiers(slice)) found.add(specifier);
    for (const m of slice.matchAll(call)) if (!isInComment(slice, m.index)) found.add(m[1] as string);
  }
  return found;
}

/** Specifiers of `import … from "x"`, `export … from "x"` and `import "x"`. Each part of the text is looked at once. */
function* statementSpecifiers(text: string): Generator<string> {
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(headEnd)) {
    const head = text.slice(from, index).trimEnd();
    from = index + 1;
    if (mark !== '"' && mark !== "'") continue;
    const isImport = /\bfrom$/.test(head) ? keyword.test(head) : bareImport.test(head.slice(head.lastIndexOf("\n") + 1));
    quoted.lastIndex = from;
    const specifier = isImport ? quoted.exec(text)?.[1] : undefined;
    if (specifier !== undefined) yield specifier;
  }
}

function isInComment(text: string, at: number): boolean {
  const line = text.slice(text.lastIndexOf("\n", at) + 1, at);
  return /^\s*(\/?\*|\/\/)/.test(line) || /(^|[^:"'`])\/\/ /.test(line);
}

/** The file a specifier means: itself, with an extension, TypeScript behind a JavaScript name, or a folder's index. Undefined when there is none. */
async function resolveLocal(specifier: string, folder: string): Promise<string | undefined> {
  const plain = specifier.replace(/[?#].*$/s, "");
  const base = plain.startsWith("file:") ? fileOf(plain) : resolve(folder, plain);
  if (base === undefined) return undefined;
  const typed = /\.[cm]?jsx?$/.test(base) ? [base.replace(/\.([cm]?)js(x?)$/, ".$1ts$2")] : [];
  const candidates = [...extensions.map((e) => base + e), ...typed, ...extensions.slice(1).map((e) => resolve(base, `index${e}`))];
  for (const path of candidates) {
    if ((await stat(path).catch(() => undefined))?.isFile()) return path;
  }
  return undefined;
}

function fileOf(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined; // no file on this system; the import fails by itself
  }
}

/** Refuses what is not promised to anybody: the next release may not have it. */
function unpromised(file: string): PluginProblem {
  const reason = `${file} imports "${INTERNAL}", which only plugins that come with svc may use`;
  return { state: "blocked", code: "api-mismatch", reason, hint: "use what svc/sdk exports" };
}

function escapes(reason: string, hint: string): PluginProblem {
  return { state: "blocked", code: "path-escape", reason, hint };
}
