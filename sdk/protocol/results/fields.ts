import { z } from "zod";

/** Milliseconds since the Unix epoch. */
export const epochMs = z.number().int().min(0);
/** A duration in whole milliseconds. */
export const durationMs = z.number().int().min(0);
/** A count. */
export const count = z.number().int().min(0);
/** Id of an agent. */
export const agentId = z.string().min(1);
/** Always in full: `agent:<id>:<key>`. */
export const sessionKey = z.string().min(1);
/** As on the wire: `operator.read`. */
export const scopes = z.array(z.string().min(1));
/** One thing that is wrong with a config. `path` is dotted; empty for the whole file. */
export const configIssue = z.object({ path: z.string(), message: z.string() });
