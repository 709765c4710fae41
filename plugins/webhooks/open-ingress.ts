import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type ContributionView, type HookPreset, isSvcError, type Messaging, type PluginContext } from "svc/sdk";
import type { HooksConfig } from "./action.ts";
import { bodyCaps } from "./body-caps.ts";
import type { Ingress, Verifier } from "./ingress.ts";
import { type MappingView, viewOf } from "./mapping-view.ts";
import type { Mapping } from "./mappings/mapping.ts";
import { readyMappings } from "./mappings/ready-mappings.ts";
import { createResolver } from "./mappings/resolver.ts";
import { createTransforms, type TransformProblem } from "./transforms/transforms.ts";
import { createVerifier, secretProblems } from "./verify/verifier.ts";

/** An ingress that is ready but for its secrets: those of a new config can be read only when it is in force. */
export interface OpenedIngress {
  /** Presets it was made with, in the order of `hooks.presets`. */
  presets: ReadonlyArray<HookPreset | undefined>;
  finish(generation: number, secretAt: SecretAt): FinishedIngress;
  /** Releases the resources of an ingress that is never installed. */
  dispose(): void;
}

/** Facts about an ingress for operators. */
export interface IngressFacts {
  mappings: MappingView[];
  /** Problems that keep a mapping from working. */
  problems: string[];
  /** Warnings about mappings that work but should be fixed. */
  warnings: string[];
}

export interface FinishedIngress extends IngressFacts {
  ingress: Ingress;
  /** Checks again: files of transforms appear, disappear and are fixed without a reload. */
  inspect(): Promise<IngressFacts>;
}

type Context = Pick<PluginContext, "logger" | "service" | "clock" | "env">;

interface OpenOptions {
  presets: Pick<ContributionView<HookPreset>, "get">;
  signal: AbortSignal;
}

/** Mappings, presets, transforms and signatures of one config as one ingress. What is broken takes its mapping out and is reported; the others serve. */
export async function openIngress(ctx: Context, hooks: HooksConfig, { presets: offered, signal }: OpenOptions): Promise<OpenedIngress> {
  const { logger, clock } = ctx;
  const presets = hooks.presets.map((name) => offered.get(name)?.value);
  const folder = transformsFolder(hooks, { configPath: ctx.service("gateway@1").info().configPath, home: ctx.env.HOME });
  const { openTransforms: openSandbox } = ctx.service("sandbox@1");
  const transforms = createTransforms({ ...folder, config: hooks.transforms, openSandbox, logger, now: () => clock.monotonic() });
  const mappings = readyMappings(hooks, { presets, transforms });
  const modules = hooks.mappings.flatMap(({ transform }) => (transform ? [transform.module] : []));
  try {
    const found = modules.length > 0 ? await transforms.problems(modules) : [];
    signal.throwIfAborted();
    const deps = { hooks, mappings, agents: () => ctx.service("agents@1"), messaging: () => messagingOf(ctx), clock };
    const maxBodyBytes = bodyCaps(
      hooks,
      mappings.map(({ mapping }) => mapping),
    );
    return {
      presets,
      finish(generation, secretAt) {
        const verifiers = openVerifiers(mappings.slice(0, hooks.mappings.length), secretAt);
        const verifierOf = (path: string) => verifiers.byPath.get(path);
        // The first request should not have to wait for a process; what is wrong with it, the calls say.
        if (modules.length > 0) transforms.start().catch(() => undefined);
        const dispose = () => transforms.dispose();
        const broken = mappings.flatMap(({ id, broken }) => (broken === undefined ? [] : [`mapping "${id}": ${broken}`]));
        const told = (lost: typeof found): IngressFacts => ({
          mappings: mappings.map((mapping) => viewOf(mapping, lost)),
          problems: [...broken, ...messagesOf(lost, "error"), ...verifiers.problems],
          warnings: messagesOf(lost, "warning"),
        });
        return {
          ingress: { generation, hooks, resolve: createResolver(deps), verifierOf, maxBodyBytes, dispose },
          ...told(found),
          inspect: async () => told(modules.length > 0 ? await transforms.problems(modules) : []),
        };
      },
      dispose: () => transforms.dispose(),
    };
  } catch (error) {
    transforms.dispose();
    throw error;
  }
}

function messagesOf(problems: readonly TransformProblem[], severity: TransformProblem["severity"]): string[] {
  return problems.filter((one) => one.severity === severity).map(({ message }) => message);
}

/** Undefined where nobody carries messages. */
function messagingOf(ctx: Pick<Context, "service">): Messaging | undefined {
  try {
    return ctx.service("messaging@1");
  } catch (error) {
    if (isSvcError(error, "service-unavailable")) return undefined;
    throw error;
  }
}

/** The value of a sensitive config path, or why it has none. */
type SecretAt = (path: string) => { value?: string; problem?: string };

/**
 * Verifiers of the operator's mappings by path. Without its secret a path refuses every request: the token is no way round it.
 * @param mappings `hooks.mappings`, in that order
 */
function openVerifiers(
  mappings: ReadonlyArray<{ id: string; mapping: Mapping }>,
  secretAt: SecretAt,
): { byPath: ReadonlyMap<string, Verifier>; problems: string[] } {
  const byPath = new Map<string, Verifier>();
  const problems: string[] = [];
  mappings.forEach(({ id, mapping: { verify, match } }, i) => {
    if (!verify || match?.path === undefined) return;
    const at = `hooks.mappings.${i}.verify`;
    const paths = verify.secrets ? verify.secrets.map((_, place) => `${at}.secrets.${place}`) : [`${at}.secret`];
    const found = paths.map(secretAt);
    const secrets = found.flatMap(({ value }) => (value === undefined ? [] : [value]));
    const lost = found.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
    byPath.set(match.path, createVerifier({ id, verify }, secrets));
    problems.push(...[...lost, ...secretProblems(verify, secrets)].map((problem) => `mapping "${id}": ${problem}`));
  });
  return { byPath, problems };
}

/** Folder of the transforms: that of the config, or one below it. */
export function transformsFolder(
  hooks: Pick<HooksConfig, "transformsDir">,
  { configPath, home = homedir() }: { configPath: string; home?: string | undefined },
): { dir: string; root: string } {
  const configDir = dirname(configPath);
  const root = join(configDir, "hooks", "transforms");
  const named = hooks.transformsDir;
  if (named === undefined) return { dir: root, root };
  return { dir: resolve(configDir, named === "~" || named.startsWith("~/") ? join(home, named.slice(1)) : named), root };
}
