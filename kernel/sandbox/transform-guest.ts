/** Runs functions of the files in one folder, apart from the gateway. */

import type { TransformRequest } from "../../sdk/types/sandbox.ts";
import { serveGuest } from "./guest.ts";
import { switchOffNetwork } from "./network.ts";
import { switchOffSignals } from "./processes.ts";
import { createTransformRunner, type RunTransform } from "./run-transform.ts";

/** Data that a guest needs to run transforms. */
export interface TransformGuestData {
  /** Absolute and resolved. */
  root: string;
  /** May use the network. */
  net: boolean;
  /** URL of jiti. */
  jiti: string;
}

let root: string | undefined;
let run: RunTransform | undefined;

serveGuest({
  root: () => root,
  async start(data: TransformGuestData) {
    root = data.root;
    run = await createTransformRunner({ root, jiti: data.jiti, fresh: false });
    switchOffSignals();
    if (!data.net) switchOffNetwork();
  },
  call: async (_name: string, request: TransformRequest) => run?.(request),
});
