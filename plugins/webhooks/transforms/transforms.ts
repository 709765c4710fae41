import type { Logger, SandboxService, TransformSandbox } from "svc/sdk";
import type { HooksConfig } from "../action.ts";
import type { TransformCall } from "../mappings/mapping.ts";
import { transformErrors } from "./errors.ts";
import { toTransformError } from "./faults.ts";
import { type Folder, readFolder } from "./folder.ts";
import { findModule } from "./module-file.ts";
import { toTransformResult } from "./result.ts";

export interface TransformsOptions {
  /** Folder of the modules, absolute: `hooks.transformsDir`, or the default one. */
  dir: string;
  /** The default one, absolute: the other must be it, or lie in it. */
  root: string;
  config: HooksConfig["transforms"];
  openSandbox: SandboxService["openTransforms"];
  logger: Logger;
  /** Monotonic milliseconds; default the real ones. */
  now?: () => number;
}

/** Problem with a transform, or with the folder of all of them. */
export interface TransformProblem {
  /** Unset: of the folder. */
  module?: string;
  /** `error`: calls fail for as long as it is so. */
  severity: "error" | "warning";
  message: string;
}

/** The transforms of one config. */
export interface Transforms {
  /** A function of a file, to be called; whether it can be is looked at with each call, so that a file that is put right works at once. */
  call(transform: { module: string; export?: string }): TransformCall;
  /** Present problems of the folder and of each of these modules. */
  problems(modules: readonly string[]): Promise<TransformProblem[]>;
  /** Starts the process before the first call needs it. @throws {SvcError} `sandbox-*` */
  start(): Promise<void>;
  /** Ends at once; calls under way fail. */
  dispose(): void;
}

/** The folder is looked through at most this often. */
const FRESH_MS = 1_000;

/** Files that turn a payload into an action, run apart. Needs no gateway. */
export function createTransforms(options: TransformsOptions): Transforms {
  const { dir, root, config, openSandbox, logger, now = () => performance.now() } = options;
  let looked: { at: number; folder: Promise<Folder | { problem: string }> } | undefined;
  let place: { folder: Folder; sandbox: Promise<TransformSandbox> } | undefined;
  let disposed = false;

  const current = () => {
    if (!looked || now() - looked.at >= FRESH_MS) looked = { at: now(), folder: readFolder({ dir, root }) };
    return looked.folder;
  };
  const close = () => {
    const closing = place?.sandbox;
    place = undefined;
    void closing?.then((sandbox) => sandbox.dispose());
  };
  const sandboxOf = async (folder: Folder): Promise<TransformSandbox> => {
    if (disposed) throw transformErrors.transformFailed({ reason: "was stopped" });
    if (place && place.folder.dir !== folder.dir) close();
    if (!place) {
      const { isolation, allowNet: net, timeoutMs } = config;
      // Asked for at each start of a process: what may be read changes with the folder.
      const read = () => place?.folder.readable ?? [];
      place = { folder, sandbox: openSandbox({ root: folder.dir, read, isolation, net, timeoutMs, logger, now }) };
    } else if (place.folder.fingerprint !== folder.fingerprint) {
      place.folder = folder;
      (await place.sandbox).renew();
    }
    return place.sandbox;
  };
  /** The module's file and where it runs, as everything stands now; or why it cannot be called. */
  const find = async (module: string): Promise<{ file: string; sandbox: TransformSandbox } | { problem: string }> => {
    const folder = await current();
    if ("problem" in folder) return folder;
    const found = await findModule(module, { dir, real: folder.dir });
    if ("problem" in found) return found;
    const sandbox = await sandboxOf(folder);
    const outside = await sandbox.check(found.file);
    return outside === undefined ? { file: found.file, sandbox } : { problem: `${module}: ${outside}` };
  };

  return {
    call({ module, export: name }) {
      return async (context, { signal }) => {
        try {
          const found = await find(module);
          if ("problem" in found) throw transformErrors.transformFailed({ module, reason: found.problem });
          const request = { file: found.file, context, ...(name === undefined ? {} : { export: name }) };
          return toTransformResult(module, await found.sandbox.call(module, request, { signal }));
        } catch (error) {
          throw toTransformError(module, error, signal);
        }
      };
    },
    async problems(modules) {
      looked = undefined;
      const folder = await current();
      const problems: TransformProblem[] =
        "problem" in folder
          ? [{ severity: "error", message: folder.problem }]
          : folder.warnings.map((message) => ({ severity: "warning", message }));
      for (const module of new Set(modules)) {
        const found = await find(module);
        if ("problem" in found) problems.push({ module, severity: "error", message: found.problem });
      }
      return problems;
    },
    async start() {
      const folder = await current();
      if ("problem" in folder) return;
      await (await sandboxOf(folder)).start();
    },
    dispose() {
      disposed = true;
      close();
    },
  };
}
