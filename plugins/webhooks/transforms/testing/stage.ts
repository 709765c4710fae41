import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Logger, SvcError } from "svc/sdk";
import type { TransformContext, TransformResult } from "../../mappings/mapping.ts";
import { createTransforms, type Transforms, type TransformsOptions } from "../transforms.ts";

export const context: TransformContext = {
  payload: { action: "opened", issue: { number: 7 } },
  headers: { "x-github-event": "issues" },
  url: "http://127.0.0.1:1/hooks/github?a=1",
  path: "github",
};

/** Functions of the test runner that a stage uses. */
export interface StageKit {
  beforeEach(fn: () => Promise<void>): void;
  afterEach(fn: () => Promise<void>): void;
  watchLeaks(): { assertNone(): Promise<void> };
  openSandbox: TransformsOptions["openSandbox"];
}

/** A folder of transforms for each test, and what was logged. */
export interface Stage {
  readonly root: string;
  readonly lines: string[];
  readonly transforms: Transforms;
  write(files: Record<string, string>): Promise<void>;
  /** In the place of the one before. Limits are wide: on a busy machine a start takes its time. */
  open(config?: Partial<TransformsOptions["config"]>, own?: Partial<TransformsOptions>): Transforms;
  use(module: string, options?: { export?: string; given?: Partial<TransformContext>; signal?: AbortSignal }): Promise<TransformResult>;
}

export function stage({ beforeEach, afterEach, watchLeaks, openSandbox }: StageKit): Stage {
  const lines: string[] = [];
  const record = (message: string) => void lines.push(message);
  const logger: Logger = { trace: record, debug: record, info: record, warn: record, error: record, child: () => logger };
  let root = "";
  let transforms: Transforms | undefined;
  let leaks: ReturnType<StageKit["watchLeaks"]> | undefined;
  beforeEach(async () => {
    leaks = watchLeaks();
    lines.length = 0;
    root = await realpath(await mkdtemp(join(tmpdir(), "svc-transforms-")));
  });
  afterEach(async () => {
    transforms?.dispose();
    transforms = undefined;
    await rm(root, { recursive: true, force: true });
    await leaks?.assertNone();
  });
  const current = () => {
    if (!transforms) throw new Error("open() comes first");
    return transforms;
  };
  return {
    lines,
    get root() {
      return root;
    },
    get transforms() {
      return current();
    },
    async write(files) {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), text);
      }
    },
    open(config = {}, own = {}) {
      transforms?.dispose();
      transforms = createTransforms({
        dir: root,
        root,
        logger,
        openSandbox,
        config: { isolation: "process", allowNet: false, timeoutMs: 30_000, ...config },
        ...own,
      });
      return transforms;
    },
    use: (module, { export: name, given = {}, signal = new AbortController().signal } = {}) =>
      current().call({ module, ...(name === undefined ? {} : { export: name }) })({ ...context, ...given }, { signal }),
  };
}

/** Returns the code of a failed call, and for the log its reason. */
export function fault(promise: Promise<unknown>): Promise<{ code: string; reason: string; retryAfterMs: number | undefined }> {
  return promise.then(
    (value) => ({ code: "none", reason: JSON.stringify(value), retryAfterMs: undefined }),
    ({ code, fields, retryAfterMs, message }: SvcError) => ({ code, reason: String(fields?.reason ?? message), retryAfterMs }),
  );
}
