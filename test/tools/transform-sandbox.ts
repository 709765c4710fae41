import { createTransformSandbox } from "../../kernel/sandbox/transform-sandbox.ts";
import type { SandboxService } from "../../sdk/types/sandbox.ts";

/** Opens the sandbox of transforms as the kernel's service does, without a gateway. */
export const openSandbox: SandboxService["openTransforms"] = async (options) => createTransformSandbox(options);
