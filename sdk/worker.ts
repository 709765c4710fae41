import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** URL of a worker module beside the caller; `name` has no extension: that of the caller's own file is used. */
export function workerUrl(callerUrl: string, name: string): URL {
  const extension = callerUrl.endsWith(".ts") ? ".ts" : ".js";
  return new URL(`${name}${extension}`, callerUrl);
}

/**
 * Starts a worker thread from compiled JavaScript or from TypeScript sources alike.
 * A `.ts` file runs through jiti with `svc/sdk` mapped to the sources. Only plain data crosses the border.
 */
export function startWorker(url: URL, options: WorkerOptions = {}): Worker {
  const file = compiledTwin(url)?.url ?? url;
  if (!file.pathname.endsWith(".ts")) return new Worker(file, options);
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(bootstrapSource(file))}`), options);
}

/** JavaScript that runs a module, compiled or not, in a fresh thread or process. */
export function bootstrapSource(url: URL): string {
  if (!url.pathname.endsWith(".ts")) return `await import(${JSON.stringify(url.href)});`;
  const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const alias = { "svc/sdk/internal": path("./internal/index.ts"), "svc/sdk": path("./index.ts") };
  // One cache for all that runs from these sources; jiti's own is in a temporary folder that everybody may write to.
  const cache = import.meta.url.endsWith(".ts") ? { fsCache: path("../node_modules/.cache/jiti") } : {};
  return [
    `import { createJiti } from ${JSON.stringify(import.meta.resolve("jiti"))};`,
    `const jiti = createJiti(${JSON.stringify(url.href)}, ${JSON.stringify({ alias, ...cache })});`,
    `await jiti.import(${JSON.stringify(fileURLToPath(url))});`,
  ].join("\n");
}

let compiled: string | undefined;

/**
 * Tests only: threads, processes and guests whose sources stand beside this folder run compiled, from the folder, as they do in a release. From sources each
 * of them starts a translator first, and a child process that may write nothing translates the whole SDK.
 */
export function setCompiledModules(folder: string | undefined): void {
  compiled = folder;
}

/** Compiled file of a TypeScript module, and the folder it belongs to, where tests have asked for it. */
export function compiledTwin(source: URL): { url: URL; folder: string } | undefined {
  if (compiled === undefined || !source.pathname.endsWith(".ts")) return undefined;
  const path = join(compiled, relative(dirname(compiled), fileURLToPath(source))).replace(/\.ts$/, ".js");
  return existsSync(path) ? { url: pathToFileURL(path), folder: compiled } : undefined;
}
