import { z } from "zod";
import { idExpectation, idPattern } from "../../text/id-text.ts";

/** An id from outside: of a session, run, device, place. */
export const idText = (maxChars: number) => z.string().min(1).max(maxChars).regex(idPattern, idExpectation);
/** No parameters. */
export const none = z.strictObject({});
export const pluginId = idText(64);
/** Known for at least 5 min after the end. */
export const idempotencyKey = idText(256);
/** A whole config file, or a patch. */
export const configText = z.string().max(8 * 1024 * 1024);
/** Needed once a file exists. */
export const baseHash = z.string().min(1).max(128).optional();
/** Why, for the log. */
export const note = z.string().max(1_000).optional();
