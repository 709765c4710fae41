/** Errors of secrets that have no value, as the kernel throws them into a plugin. */
export { secretErrors } from "../../kernel/secrets/errors.ts";
