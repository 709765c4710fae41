import { z } from "zod";
import { baseHash, configText, none, note } from "./fields.ts";
import { method } from "./spec.ts";

/** Config and secrets. */
export const configMethods = {
  "config.get": method("read", "effective config and file, redacted", none),
  "config.set": method(
    "admin",
    "writes the whole config file; it is applied like any change of the file",
    z.strictObject({ raw: configText, baseHash }),
  ),
  "config.apply": method(
    "admin",
    "writes the whole config file and waits until it is applied",
    z.strictObject({ raw: configText, baseHash, note, restartDelayMs: z.number().int().min(0).max(60_000).optional() }),
  ),
  "config.patch": method(
    "admin",
    "merges a JSON5 merge patch into the config file and waits until it is applied",
    z.strictObject({ raw: configText, baseHash, replacePaths: z.array(z.string().min(1).max(1_000)).max(256).optional(), note }),
  ),
  "config.schema": method("read", "JSON Schema of the config, plugins included, with hints for forms", none),
  "config.schema.lookup": method("read", "one node of the config schema and its children", z.strictObject({ path: z.string().max(1_000) })),
  "secrets.resolve": method(
    "admin",
    "values of the SecretRefs at some config paths, for a command on the gateway's own machine",
    z.strictObject({ commandName: z.string().min(1).max(128), targetIds: z.array(z.string().min(1).max(1_000)).min(1).max(256) }),
  ),
  "secrets.reload": method("admin", "resolves every secret again and swaps all of them at once", none),
} as const;
