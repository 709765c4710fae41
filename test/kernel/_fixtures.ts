import { fileURLToPath } from "node:url";

/** Absolute folder of a fixture plugin. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/plugins/${name}`, import.meta.url));
}
