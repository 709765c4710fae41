/** The limiter of failed attempts that plugins get from `gateway@1`. */
export { createAttemptLimiter } from "../../kernel/auth/failure-limiter.ts";
