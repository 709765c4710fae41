import type { TransformSandbox, TransformSandboxOptions } from "./transform-sandbox.ts";

/**
 * A place where functions of the files in one folder run apart from the gateway: TypeScript or JavaScript, without a build step, with a bound on time,
 * memory, calls and output. The machinery is read when this is called, not with the SDK.
 */
export async function openTransformSandbox(options: TransformSandboxOptions): Promise<TransformSandbox> {
  return (await import("./transform-sandbox.ts")).createTransformSandbox(options);
}
