import { METHODS } from "node:http";
import {
  type ContributionView,
  type Disposable,
  type HookPreset,
  type HttpRoute,
  isSvcError,
  messageOf,
  type PluginContext,
} from "svc/sdk";
import type { HooksConfig } from "../action.ts";
import { warmTexts } from "../actions/warm-texts.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { MappingView } from "../mapping-view.ts";
import { type IngressFacts, type OpenedIngress, openIngress } from "../open-ingress.ts";
import { createBodyGate } from "./body-gate.ts";
import { digestOf } from "./credentials.ts";
import { createGenerations } from "./generations.ts";
import { createRequestHandler, endpointFault } from "./request-handler.ts";
import { createThrottle } from "./throttle.ts";

/** The largest body that a mapping may allow; the request handler applies the limit of each path. */
const MAX_BODY_BYTES = 33_554_432;
const WARM_AFTER_MS = 500;

/** State of the webhook endpoint for operators. */
export interface EndpointState {
  generation: number;
  /** Path at which it answers. */
  path: string;
  mappings: readonly MappingView[];
  /** Configured presets that exist. */
  knownPresets: readonly string[];
  /** Problems that keep a part of it from working; no secret in it. */
  problems: readonly string[];
  /** Warnings about parts that work but should be fixed. */
  warnings: readonly string[];
}

/** The route on the gateway's port, and the ingress of the config in force behind it. */
export interface Endpoint {
  /** Does everything that takes time, beside the ingress that answers. */
  prepare(hooks: HooksConfig, signal: AbortSignal): Promise<OpenedIngress>;
  /** Puts it in place; the snapshot in force is that of its config. */
  install(opened: OpenedIngress): void;
  /** Presets came or went: what is in force is recreated if it uses them. */
  presetsChanged(): Promise<void>;
  /** The path belongs to nobody. */
  close(): void;
  /** State for operators, after the files of transforms were checked again; undefined while webhooks are not served. */
  inspect(): Promise<EndpointState | undefined>;
}

export function createEndpoint(ctx: PluginContext, deliveries: Deliveries): Endpoint {
  return new WebhookEndpoint(ctx, deliveries);
}

class WebhookEndpoint implements Endpoint {
  readonly #ctx: PluginContext;
  readonly #generations = createGenerations();
  readonly #presets: ContributionView<HookPreset>;
  readonly #handler: HttpRoute["handler"];
  #generation = 0;
  #route: { path: string; held: Disposable } | undefined;
  #state: EndpointState | undefined;
  #checkAgain: (() => Promise<EndpointState>) | undefined;
  /** Presets behind the config in force. */
  #seen: readonly unknown[] = [];
  #isStale = false;
  #renewing: Promise<void> | undefined;
  #isWarm = false;

  constructor(ctx: PluginContext, deliveries: Deliveries) {
    const { clock, logger } = ctx;
    this.#ctx = ctx;
    this.#presets = ctx.contributions<HookPreset>("hookPreset");
    const [throttle, bodies] = [createThrottle(ctx.service("gateway@1")), createBodyGate()];
    const requests = ctx.metrics.counter({ name: "hook_requests_total", help: "Webhook requests", labels: ["path", "status"] });
    this.#handler = createRequestHandler({ generations: this.#generations, throttle, bodies, deliveries, clock, logger, requests });
  }

  prepare(hooks: HooksConfig, signal: AbortSignal): Promise<OpenedIngress> {
    return openIngress(this.#ctx, hooks, { presets: this.#presets, signal });
  }

  install(opened: OpenedIngress): void {
    this.#generation += 1;
    const generation = this.#generation;
    const token = this.#secretAt("hooks.token");
    this.#seen = opened.presets;
    const { ingress, inspect, ...found } = opened.finish(generation, (path) => this.#secretAt(path));
    const tokenDigest = token.value === undefined ? undefined : digestOf(token.value.trim());
    this.#generations.swap({ ingress, tokenDigest });
    const path = ingress.hooks.path.replace(/(?<!\/)\/+$/, "");
    this.#answerAt(path);
    const lost = token.problem ? [token.problem] : [];
    const knownPresets = ingress.hooks.presets.filter((_, i) => this.#seen[i] !== undefined);
    const stateOf = ({ mappings, problems, warnings }: IngressFacts): EndpointState => {
      return { generation: ingress.generation, path, mappings, knownPresets, problems: [...lost, ...problems], warnings };
    };
    this.#state = stateOf(found);
    this.#checkAgain = async () => stateOf(await inspect());
    for (const problem of [...this.#state.problems, ...this.#state.warnings]) this.#ctx.logger.warn(`hooks: ${problem}`);
    this.#ctx.service("gateway@1").invalidateHealth();
    this.#warm();
  }

  presetsChanged(): Promise<void> {
    this.#isStale = true;
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  close(): void {
    void this.#route?.held.dispose();
    this.#route = undefined;
    this.#state = undefined;
    this.#generations.swap(undefined);
  }

  async inspect(): Promise<EndpointState | undefined> {
    const before = this.#state;
    const now = before && (await this.#checkAgain?.());
    // Another config may have come in between.
    if (this.#state === before) this.#state = now;
    return this.#state;
  }

  #answerAt(path: string): void {
    if (this.#route?.path === path) return;
    void this.#route?.held.dispose();
    // Every method comes here: what is wrong with the address is reported first, and only then that it is no POST.
    const own = { method: METHODS.filter((method) => method !== "CONNECT"), path, match: "prefix", auth: "plugin" } as const;
    const route: HttpRoute = { ...own, maxBodyBytes: MAX_BODY_BYTES, handler: this.#handler, onError: endpointFault };
    this.#route = { path, held: this.#ctx.registerHttpRoute(route) };
  }

  #secretAt(path: string): { value?: string; problem?: string } {
    try {
      const value = this.#ctx.secret(path);
      return value === undefined ? {} : { value };
    } catch (error) {
      if (!isSvcError(error, "secret-unavailable")) throw error;
      return { problem: messageOf(error) };
    }
  }

  async #renew(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      const before = this.#generation;
      const { hooks } = this.#ctx.snapshot();
      const isLeaving = this.#ctx.service("gateway@1").info().phase === "draining";
      const presets = hooks.presets.map((name) => this.#presets.get(name)?.value);
      if (!this.#generations.current() || isLeaving || sameAs(this.#seen, presets)) return;
      const opened = await this.prepare(hooks, this.#ctx.signal);
      if (this.#generation === before && this.#generations.current()) this.install(opened);
      else {
        // A reload came in between; whether it has seen the presets of now is looked at once more.
        this.#isStale = true;
        opened.dispose();
      }
    }
  }

  #warm(): void {
    if (this.#isWarm) return;
    this.#isWarm = true;
    // After whatever a start still has to do.
    this.#ctx.timers.setTimeout(() => void warmTexts(this.#ctx.signal), WARM_AFTER_MS);
  }
}

function sameAs(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((value, i) => value === now[i]);
}
