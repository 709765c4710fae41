import type { PluginContext } from "../../sdk/types/context.ts";
import type { Manifest, PluginOrigin } from "../../sdk/types/manifest.ts";
import type { Leases } from "./leases.ts";

/** Identity of one plugin instance. */
export interface InstanceIdentity {
  id: string;
  version: string;
  instance: number;
  origin: PluginOrigin;
  root: string;
  /** Load order, for ties. */
  order: number;
  manifest: Manifest | undefined;
  /** Replaced when the plugin takes a new one in place. */
  config: unknown;
  /** Variables of its config entry. */
  env: Readonly<Record<string, string>>;
}

/** A context and the power to end it. What it registers takes effect at `open`. */
export interface Instance {
  readonly identity: InstanceIdentity;
  readonly ctx: PluginContext;
  readonly leases: Leases;
  /** Refused registrations, for `svc plugins list`. */
  readonly diagnostics: Array<{ code: string; message: string }>;
  /** Puts everything it registered into the registries, in one turn. */
  open(): void;
  /** Takes it out again, in one turn; calls under way go on. */
  close(): void;
  /** Aborts `ctx.signal`: the stop begins. */
  abort(): void;
  /** Aborts the signal, if that has not happened, then undoes everything in reverse, each step within 5 s. Resolves to what could not be undone. */
  dispose(): Promise<string[]>;
}
