import { afterAll, vi } from "vitest";
import { setFailpoint } from "../sdk/failpoint.ts";
import { eventually } from "../sdk/testing/eventually.ts";
import { failOnWireFaults, throwWireFaults } from "../sdk/testing/wire-check.ts";
import { forgetShared } from "./kernel/_plugins.ts";
import { watchOpenResources } from "./open-resources.ts";
import { watchProcessState } from "./process-state.ts";

// For files that share a process. Runs before each and, being registered first, ends after the file's own hooks: a file that leaves the process changed
// fails, and what our modules keep for tests is taken back.
const changes = watchProcessState();
const resources = watchOpenResources();
failOnWireFaults();
// A finding of a file's last hooks is reported for that file, not for the next one.
afterAll(throwWireFaults);
afterAll(async () => {
  setFailpoint(undefined);
  forgetShared();
  vi.restoreAllMocks();
  const left = changes();
  if (left.length > 0) throw new Error(`this file leaves the process changed, and others run in it after it: ${left.join("; ")}`);
  // Sockets and threads that were closed take a moment to be gone.
  await eventually(() => {
    const open = resources();
    if (open.length > 0) throw new Error(`this file leaves open what may disturb others (expectNoLeaks says where): ${open.join(", ")}`);
    return true;
  }, 5_000);
});
