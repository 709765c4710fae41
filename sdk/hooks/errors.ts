import { defineErrors } from "../errors.ts";

/** Codes of the hook bus. */
export const hookErrors = defineErrors({
  "unknown-hook": { message: 'there is no hook "{hook}"; the page "Hooks" of the reference lists them', http: 500, rpc: "UNAVAILABLE" },
  "hook-failed": { message: 'hook {hook}: plugin "{plugin}" {reason}', http: 500, rpc: "UNAVAILABLE" },
  "hook-filter": {
    message: 'hook {hook}: plugin "{plugin}" filters by {key}, which its events do not carry; expected {expected}',
    http: 500,
    rpc: "UNAVAILABLE",
  },
});
