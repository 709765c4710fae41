import { afterAll, vi } from "vitest";
import { setFailpoint } from "../sdk/failpoint.ts";
import { watchProcessState } from "./process-state.ts";

// For files that share a process. Runs before each and, being registered first, ends after the file's own hooks: a file that leaves the process changed
// fails, and what our modules keep for tests is taken back.
const changes = watchProcessState();
afterAll(() => {
  setFailpoint(undefined);
  vi.restoreAllMocks();
  const left = changes();
  if (left.length > 0) throw new Error(`this file leaves the process changed, and others run in it after it: ${left.join("; ")}`);
});
