import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The program: compiled when it is there, else from its sources through jiti (`SVC_FROM_SOURCE=1` asks for that). */
export async function loadKernel() {
  const compiled = join(root, "dist/kernel/bin.js");
  const wantsSource = !["", "0", undefined].includes(process.env.SVC_FROM_SOURCE);
  if (!wantsSource && existsSync(compiled)) return import(pathToFileURL(compiled).href);
  const { createJiti } = await import("jiti");
  const sdk = (path) => join(root, "sdk", path);
  const jiti = createJiti(import.meta.url, {
    alias: {
      "svc/sdk/client": sdk("client/index.ts"),
      "svc/sdk/internal": sdk("internal/index.ts"),
      "svc/sdk/testing": sdk("testing/index.ts"),
      "svc/sdk": sdk("index.ts"),
    },
    // Never a shared temporary folder: somebody else could leave code there.
    fsCache: join(root, "node_modules/.cache/jiti"),
  });
  return jiti.import(join(root, "kernel/bin.ts"));
}
