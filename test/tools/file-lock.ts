/** The lock of files that commands get with their context. */
export { withFileLock } from "../../kernel/process/file-lock.ts";
