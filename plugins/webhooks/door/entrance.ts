import { METHODS } from "node:http";
import { type Disposable, type HookPreset, isSvcError, messageOf, type PluginContext } from "svc/sdk";
import type { HooksConfig } from "../action.ts";
import { warmTexts } from "../actions/warm-texts.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { MappingView } from "../mapping-view.ts";
import { type IngressFacts, type OpenedIngress, openIngress } from "../open-ingress.ts";
import { createBodyGate } from "./body-gate.ts";
import { digestOf } from "./credentials.ts";
import { createDoor, doorFault } from "./door.ts";
import { createGenerations } from "./generations.ts";
import { createThrottle } from "./throttle.ts";

/** The largest cap that a mapping may have; each path's own is looked at by the door. */
const MAX_BODY_BYTES = 33_554_432;
const WARM_AFTER_MS = 500;

/** State of the webhook endpoint for operators. */
export interface EntranceState {
  generation: number;
  /** Where it answers. */
  path: string;
  mappings: readonly MappingView[];
  /** Configured presets that exist. */
  knownPresets: readonly string[];
  /** Problems that keep a part of it from working; no secret in it. */
  problems: readonly string[];
  /** Warnings about parts that work but should be fixed. */
  warnings: readonly string[];
}

/** The door on the gateway's port, and the config that is behind it now. */
export interface Entrance {
  /** Everything that takes time, beside the door that answers. */
  prepare(hooks: HooksConfig, signal: AbortSignal): Promise<OpenedIngress>;
  /** Puts it in place; the snapshot in force is that of its config. */
  install(opened: OpenedIngress): void;
  /** Presets came or went: what is in force is made anew if it uses them. */
  presetsChanged(): Promise<void>;
  /** The path belongs to nobody. */
  shut(): void;
  /** State for operators, after the files of transforms were checked again; undefined while webhooks are not served. */
  look(): Promise<EntranceState | undefined>;
}

export function createEntrance(ctx: PluginContext, deliveries: Deliveries): Entrance {
  const { clock, logger } = ctx;
  const generations = createGenerations();
  const [throttle, bodies] = [createThrottle(() => clock.monotonic()), createBodyGate()];
  const handler = createDoor({ generations, throttle, bodies, deliveries, clock, logger });
  const presets = ctx.contributions<HookPreset>("hookPreset");
  let generation = 0;
  let route: { path: string; held: Disposable } | undefined;
  let state: EntranceState | undefined;
  let lookAgain: (() => Promise<EntranceState>) | undefined;
  let seen: readonly unknown[] = [];
  let isStale = false;
  let renewing: Promise<void> | undefined;
  let isWarm = false;

  const answerAt = (path: string) => {
    if (route?.path === path) return;
    void route?.held.dispose();
    // Every method comes here: what is wrong with the address is told first, and only then that it is no POST.
    const own = { method: METHODS.filter((method) => method !== "CONNECT"), path, match: "prefix", auth: "plugin" } as const;
    route = { path, held: ctx.registerHttpRoute({ ...own, maxBodyBytes: MAX_BODY_BYTES, handler, onError: doorFault }) };
  };
  const secretAt = (path: string): { value?: string; problem?: string } => {
    try {
      const value = ctx.secret(path);
      return value === undefined ? {} : { value };
    } catch (error) {
      if (!isSvcError(error, "secret-unavailable")) throw error;
      return { problem: messageOf(error) };
    }
  };

  const renew = async () => {
    while (isStale) {
      isStale = false;
      const before = generation;
      const { hooks } = ctx.snapshot();
      const isLeaving = ctx.service("gateway@1").info().phase === "draining";
      if (!generations.current() || isLeaving || sameAs(seen, presetsOf(hooks))) return;
      const opened = await entrance.prepare(hooks, ctx.signal);
      if (generation === before && generations.current()) entrance.install(opened);
      else {
        // A reload came in between; whether it has seen the presets of now is looked at once more.
        isStale = true;
        opened.dispose();
      }
    }
  };
  const presetsOf = (hooks: HooksConfig) => hooks.presets.map((name) => presets.get(name)?.value);

  const entrance: Entrance = {
    prepare: (hooks, signal) => openIngress(ctx, hooks, { presets, signal }),
    install(opened) {
      generation += 1;
      const token = secretAt("hooks.token");
      seen = opened.presets;
      const { ingress, look, ...found } = opened.finish(generation, secretAt);
      const tokenDigest = token.value === undefined ? undefined : digestOf(token.value.trim());
      generations.swap({ ingress, tokenDigest });
      const path = ingress.hooks.path.replace(/(?<!\/)\/+$/, "");
      answerAt(path);
      const lost = token.problem ? [token.problem] : [];
      const knownPresets = ingress.hooks.presets.filter((_, i) => seen[i] !== undefined);
      const told = ({ mappings, problems, warnings }: IngressFacts): EntranceState => {
        return { generation: ingress.generation, path, mappings, knownPresets, problems: [...lost, ...problems], warnings };
      };
      state = told(found);
      lookAgain = async () => told(await look());
      for (const problem of [...state.problems, ...state.warnings]) logger.warn(`hooks: ${problem}`);
      ctx.service("gateway@1").invalidateHealth();
      if (isWarm) return;
      isWarm = true;
      // After whatever a start still has to do.
      ctx.timers.setTimeout(() => void warmTexts(ctx.signal), WARM_AFTER_MS);
    },
    presetsChanged() {
      isStale = true;
      renewing ??= renew().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    shut() {
      void route?.held.dispose();
      route = undefined;
      state = undefined;
      generations.swap(undefined);
    },
    async look() {
      const before = state;
      const now = before && (await lookAgain?.());
      // Another config may have come in between.
      if (state === before) state = now;
      return state;
    },
  };
  return entrance;
}

function sameAs(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((value, i) => value === now[i]);
}
