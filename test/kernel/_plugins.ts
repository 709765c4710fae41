import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Writes a plugin folder whose whole behaviour stands in the test.
 * @param setup body of `setup(ctx)`; `z` and `SvcError` are there, `shared` is an object the test sees too
 * @param manifest fields beside the usual ones
 * @returns the folder, for `createTestGateway({ plugins: [folder] })`
 */
export async function writePlugin(
  root: string,
  id: string,
  { setup = "", top = "", manifest = {} }: { setup?: string; top?: string; manifest?: Record<string, unknown> },
): Promise<string> {
  const folder = join(root, id);
  await mkdir(folder, { recursive: true });
  const all = { rpc: ["*"], http: ["*"], tools: ["*"], services: ["*"] };
  await writeFile(
    join(folder, "svc.plugin.json"),
    JSON.stringify({ id, version: "1.0.0", svc: { api: "^1.0.0" }, contributes: all, ...manifest }),
  );
  await writeFile(
    join(folder, "index.ts"),
    `import { definePlugin, SvcError, z } from "svc/sdk";
const shared = globalThis["svc-test-shared"] ??= {};
${top}
export default definePlugin({ id: ${JSON.stringify(id)}, version: "1.0.0", svc: { api: "^1.0.0" }, async setup(ctx) {
${setup}
} });
`,
  );
  return folder;
}

/** Object that plugins of `writePlugin` see as `shared`; the test that uses it empties it. */
export function sharedWithPlugins<T extends object>(initial: T): T {
  const global = globalThis as Record<string, unknown>;
  global["svc-test-shared"] = initial;
  return initial;
}

/** Takes it back after a test file, before another one runs in its process. */
export function forgetShared(): void {
  Reflect.deleteProperty(globalThis, "svc-test-shared");
}

/** A promise that is settled from outside. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
