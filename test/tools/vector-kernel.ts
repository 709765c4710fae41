/**
 * Assembles `plugins/memory-core/engine/vectors/kernel.wat`. `npx jiti test/tools/vector-kernel.ts` writes the bytes into `kernel.ts` beside it, and a test
 * compares the two. The bytes are kept in the source because an installation has no assembler.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import openWabt from "wabt";

const here = fileURLToPath(import.meta.url);
const folder = join(dirname(here), "../../plugins/memory-core/engine/vectors");

/** Bytes of the module that the text describes. */
export async function assembleVectorKernel(): Promise<Uint8Array> {
  const wabt = await openWabt();
  const module = wabt.parseWat("kernel.wat", readFileSync(join(folder, "kernel.wat"), "utf8"), { simd: true });
  try {
    module.validate();
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

/** Puts the bytes in place of those that `kernel.ts` has. */
async function writeVectorKernel(): Promise<void> {
  const file = join(folder, "kernel.ts");
  const base64 = Buffer.from(await assembleVectorKernel()).toString("base64");
  const lines = base64.match(/.{1,124}/g) ?? [];
  const literal = lines.map((line) => `  "${line}"`).join(" +\n");
  writeFileSync(file, readFileSync(file, "utf8").replace(/(KERNEL_BASE64 =\n)[^;]+;/, `$1${literal};`));
}

if (process.argv[1] === here) await writeVectorKernel();
