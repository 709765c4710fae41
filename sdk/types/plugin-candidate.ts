import type { Manifest, PluginOrigin } from "./manifest.ts";
import type { pluginCodes } from "./plugin-record.ts";
import type { EventDocument, MethodDocument } from "./protocol-document.ts";

/** Reason why a plugin that was found does not load, and what to do about it. */
export interface PluginProblem {
  state: "blocked" | "disabled" | "failed";
  code: (typeof pluginCodes)[number];
  reason: string;
  hint?: string;
}

/** One plugin as found on disk, without running any of its code. */
export interface PluginCandidate {
  id: string;
  version: string;
  /** Absolute; links resolved, except for bundled ones. */
  root: string;
  origin: PluginOrigin;
  /** Module to import; undefined with a problem. */
  entry: string | undefined;
  /** Undefined for a single file named in `plugins.load.paths`: its identity comes from its code. */
  manifest: Manifest | undefined;
  /** Methods that it serves, from `svc.protocol.json`. */
  methods?: Readonly<Record<string, MethodDocument>>;
  /** Events of the protocol that it sends, from the same file. */
  events?: Readonly<Record<string, EventDocument>>;
  /** Put there by `svc plugins install`. */
  installed?: boolean;
  problem?: PluginProblem;
}
