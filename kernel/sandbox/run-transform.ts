import { isAbsolute, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { toStrictJson } from "../../sdk/internal/strict-json.ts";
import type { TransformRequest } from "../../sdk/types/sandbox.ts";

/** Calls functions of files; each file is loaded once. @returns `undefined`, or what is JSON */
export type RunTransform = (request: TransformRequest) => Promise<unknown>;

interface Jiti {
  (path: string): unknown;
  import(path: string): Promise<unknown>;
}

/** Ways to load code into the process. */
export interface TransformLoading {
  /** Absolute folder of the files. */
  root: string;
  /** URL of jiti, which comes by address, because the SDK depends on no package but zod. */
  jiti: string;
  /**
   * Load every module again that is not of a package, even one that Node could import itself and would keep for ever; such a module cannot wait at its
   * top level. Only where the process outlives the files.
   */
  fresh: boolean;
}

/** JSON text of a result. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** @returns a caller for one state of the folder: what is loaded stays */
export async function createTransformRunner({ root, jiti, fresh }: TransformLoading): Promise<RunTransform> {
  const { createJiti } = (await import(jiti)) as { createJiti(from: string, options: object): Jiti };
  const load = createJiti(pathToFileURL(`${root}/`).href, { fsCache: false, moduleCache: false });
  const modules = new Map<string, Promise<unknown>>();
  const moduleOf = (file: string) => {
    const known = modules.get(file);
    if (known) return known;
    const made = fresh ? Promise.resolve().then(() => load(file)) : load.import(file);
    modules.set(file, made);
    // A file that could not be loaded is tried again at the next call.
    made.catch(() => modules.delete(file));
    return made;
  };
  return async ({ file, export: name, context }) => {
    const transform = functionOf(await moduleOf(file), name);
    if (!transform)
      throw new TypeError(`${shown(root, file)} exports no function ${name === undefined ? "as default or as transform" : `"${name}"`}`);
    const result: unknown = await transform({ ...context, url: new URL(context.url) });
    const text = toStrictJson(result);
    if (text === undefined) return undefined;
    if (Buffer.byteLength(text) > MAX_RESULT_BYTES) throw new RangeError(`its result is larger than ${MAX_RESULT_BYTES} bytes of JSON`);
    return JSON.parse(text) as unknown;
  };
}

type Transform = (context: unknown) => unknown;

/** A CommonJS module may be the function itself, and its members stand below `default` when Node has imported it. */
function functionOf(module: unknown, name: string | undefined): Transform | undefined {
  const inner = own(module, "default");
  const candidates =
    name === undefined
      ? [inner, module, own(inner, "default"), own(module, "transform"), own(inner, "transform")]
      : [own(module, name), own(inner, name)];
  return candidates.find((value): value is Transform => typeof value === "function");
}

/** Not what every function and object inherits: `toString` is nobody's transform. */
function own(holder: unknown, name: string): unknown {
  const isHolder = (typeof holder === "object" && holder !== null) || typeof holder === "function";
  return isHolder && Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
}

function shown(root: string, file: string): string {
  const way = relative(root, file);
  return isAbsolute(way) ? file : way;
}
