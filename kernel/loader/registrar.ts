import { commonErrors, messageOf, SvcError } from "../../sdk/errors.ts";
import type { HookOptions } from "../../sdk/hook-taps.ts";
import { type HookName, hookSpec } from "../../sdk/hooks.ts";
import type { Channel } from "../../sdk/types/channel.ts";
import type { Disposable } from "../../sdk/types/common.ts";
import type { Contributes, Permission } from "../../sdk/types/manifest.ts";
import type { RpcMethod } from "../../sdk/types/rpc.ts";
import { kernelErrors } from "../errors.ts";
import type { TapFunction } from "../hooks/bus.ts";
import { running } from "../hooks/running.ts";
import { withOwnSecrets } from "./channel-secrets.ts";
import type { Host, Instance, InstanceIdentity } from "./instance.ts";
import { createLeases, type Leases } from "./leases.ts";
import { createRegistrations, type Registrations } from "./registrations.ts";
import { createServiceProxy } from "./service-proxy.ts";
import { type ShapeKind, shapeProblem } from "./shapes.ts";

/** Points whose members stand in the manifest, and where. Calls of their values are leases of the instance. */
export const declaredPoints: Readonly<Record<string, keyof Contributes | undefined>> = {
  channel: "channels",
  embeddingAdapter: "embeddingAdapters",
  hookPreset: "hookPresets",
  memoryBackend: "memoryBackends",
  modelProvider: "modelProviders",
  service: "services",
  tool: "tools",
};

/** Refused registrations of one instance that are reported; one that is refused without end fills neither log nor listing. */
const MAX_DIAGNOSTICS = 50;

/** Checks what one instance registers against its manifest and its permissions, and puts it into the registries under its name. */
export class Registrar {
  readonly identity: InstanceIdentity;
  readonly leases: Leases;
  readonly registrations: Registrations;
  /** Refused registrations, for `svc plugins list`. */
  readonly diagnostics: Instance["diagnostics"] = [];
  readonly #host: Host;
  readonly #onDiagnostic: () => void;
  #isDisposed = false;

  /** @param onDiagnostic called for registrations refused after the instance was opened */
  constructor(identity: InstanceIdentity, host: Host, onDiagnostic: () => void) {
    this.identity = identity;
    this.leases = createLeases(identity.id);
    this.registrations = createRegistrations((error) => this.#refuse(error));
    this.#host = host;
    this.#onDiagnostic = onDiagnostic;
  }

  get #isBundled(): boolean {
    return this.identity.origin === "bundled";
  }

  /** @throws {SvcError} `plugin-disposed` */
  assertAlive(): void {
    if (this.#isDisposed) throw commonErrors.pluginDisposed({ plugin: this.identity.id });
  }

  /** Undoes everything in reverse. Resolves to what could not be undone. */
  async dispose(): Promise<string[]> {
    const left = await this.registrations.dispose();
    this.#isDisposed = true;
    left.push(...(await this.registrations.dispose())); // what a setup that was still running opened meanwhile
    return left;
  }

  /** @param isSame compares a declared name of another plugin with this one @throws {SvcError} `undeclared-contribution`, `reserved-name` */
  assertDeclared(kind: keyof Contributes, name: string, isSame = (other: string) => other === name): void {
    const { id, manifest } = this.identity;
    const list = manifest ? (manifest.contributes?.[kind] ?? []) : ["*"];
    if (!list.some((one) => one === name || one === "*" || (kind === "http" && one === "/*")))
      throw kernelErrors.undeclaredContribution({ plugin: id, kind, id: name });
    const owner = this.#isBundled ? undefined : this.#host.reservedBy(kind, isSame);
    if (owner) throw kernelErrors.reservedName({ plugin: id, name, owner: `plugin "${owner}"` });
  }

  isPermitted(permission: Permission): boolean {
    const { id, manifest } = this.identity;
    const granted = this.#isBundled || (this.#host.config().plugins.entries[id]?.grants ?? []).includes(permission);
    return granted && (!manifest || manifest.permissions?.includes(permission) === true);
  }

  /** @throws {SvcError} `permission-missing` */
  assertPermitted(permission: Permission, what: string): void {
    if (!this.isPermitted(permission)) throw kernelErrors.permissionMissing({ plugin: this.identity.id, what, permission });
  }

  /** @throws {SvcError} `invalid-registration` when there is a problem */
  assertValid(kind: string, problem: string | undefined): void {
    if (problem) throw kernelErrors.invalidRegistration({ plugin: this.identity.id, kind, issues: problem });
  }

  /**
   * Registers something; a refusal does not end the plugin: it is reported, and the plugin is degraded.
   * @param allow throws what refuses it for good
   * @param connect puts it into its registry
   */
  register(allow: () => void, connect: () => Disposable): Disposable {
    this.assertAlive();
    try {
      allow();
      return this.registrations.wire(connect);
    } catch (error) {
      this.#refuse(error);
      return { dispose: () => undefined };
    }
  }

  /** Continues with a value that is what its type says; nothing else of it has been read by then. */
  checked(kind: ShapeKind, value: unknown, next: () => Disposable): Disposable {
    const problem = shapeProblem(kind, value);
    return problem ? this.register(() => this.assertValid(kind, problem), next) : next();
  }

  /** Adds a value at a contribution point. @param allow called once the name is found to be its own */
  contribute(point: string, name: string, value: unknown, allow = () => undefined as void): Disposable {
    const { id, order } = this.identity;
    const { contributions } = this.#host;
    const taken = (by: string | undefined) => kernelErrors.contributionConflict({ point, id: name, plugin: id, owner: by });
    const offered = this.#leased(point, name, value);
    return this.register(
      () => {
        const kind = declaredPoints[point];
        if (kind) this.assertDeclared(kind, name);
        allow();
      },
      () => {
        const lost = (by: string) => this.#refuse(taken(by));
        const added = contributions.add(point, { id: name, value: offered, owner: id, order, isOutside: !this.#isBundled, lost });
        if (!added) throw taken(contributions.ownerOf(point, name));
        return added;
      },
    );
  }

  /** Taps a hook; its calls are leases of the instance. */
  tap(hook: HookName, fn: TapFunction, options: HookOptions | undefined): Disposable {
    const { id, order } = this.identity;
    return this.register(
      () => {
        this.assertValid(`hook ${hook}`, shapeProblem("hook", fn));
        for (const permission of hookSpec(hook).permissions) this.assertPermitted(permission, `hook ${hook}`);
      },
      () => {
        const leasedTap: TapFunction = (event, meta) => this.leases.run(() => fn(event, meta));
        return this.#host.hooks.tap(hook, { plugin: id, order, fn: leasedTap, options });
      },
    );
  }

  /** Adds a method of the control protocol. @param declaredAs its name when the plugin declares it by other means than `contributes.rpc` */
  addMethod(method: RpcMethod, declaredAs?: string): Disposable {
    const leased: RpcMethod = { ...method, handler: (params, call) => this.leases.run(() => method.handler(params, call)) };
    return this.register(
      () => declaredAs ?? this.assertDeclared("rpc", method.method),
      () => this.#host.methods.add(leased, this.identity.id, this.leases.hold),
    );
  }

  /** Runs each call of a declared value under the plugin's name and as a lease. */
  #leased(point: string, name: string, value: unknown): unknown {
    if (!declaredPoints[point] && point !== "reload") return value;
    const { id } = this.identity;
    const enter = <T>(what: string, fn: () => T): T =>
      running.run({ plugin: id, what: `${point} ${name}: ${what}` }, () => this.leases.run(fn));
    /** Value of an instance that is gone was kept: its successor answers, if there is one. */
    const successor = () => (this.#isDisposed ? this.#host.contributions.view(point).get(name)?.value : undefined);
    return createServiceProxy(point === "channel" ? this.#withSecrets(value) : value, enter, successor);
  }

  /** The accounts of a channel are started by another plugin, which does not know the secrets of this one. */
  #withSecrets(value: unknown): unknown {
    if (shapeProblem("channel", value) !== undefined) return value;
    const patterns = (this.identity.manifest?.secrets ?? []).map(({ path }) => path);
    return withOwnSecrets(value as Channel, { patterns, read: (path) => this.#host.secret(path) });
  }

  #refuse(error: unknown): void {
    const { id } = this.identity;
    if (this.diagnostics.length >= MAX_DIAGNOSTICS) return;
    const message = messageOf(error);
    this.diagnostics.push({ code: error instanceof SvcError ? error.code : "registration-failed", message });
    this.#host.logger.warn(message.startsWith(`plugin "${id}"`) ? message : `plugin "${id}": ${message}`);
    if (this.registrations.isOpen()) this.#onDiagnostic();
  }
}
