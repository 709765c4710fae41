import { defineErrors } from "../errors.ts";

/** Codes of what refuses to read a file or a tree. Paths in them are the operator's own. */
export const trustErrors = defineErrors({
  "unsafe-file": { message: "{path}: {reason}", http: 500, rpc: "UNAVAILABLE", exit: 1 },
});
