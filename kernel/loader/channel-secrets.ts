import type { SvcConfig } from "../../sdk/config/root.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { Channel, ChannelLogin } from "../../sdk/types/channel.ts";
import { pathSteps } from "../config/diff.ts";

interface Secrets {
  /** Config paths that the manifest of the channel's plugin lists, `*` for one segment. */
  patterns: readonly string[];
  /** @throws when the config sets the path and its value could not be resolved */
  read(path: string): string | undefined;
}

/**
 * A channel whose `config.resolve` finds the secrets of its own plugin in the config it is given: others know that config with them masked, and need not know them
 * to start an account. A secret that has no value is missing there; if the account cannot do without, the reason is what `resolve` throws.
 */
export function withOwnSecrets(channel: Channel, secrets: Secrets): Channel {
  const own = secrets.patterns.filter((pattern) => pattern.startsWith(`channels.${channel.id}.`));
  if (own.length === 0) return channel;
  const methods = ["start", "send", "edit", "unsend", "react", "typing", "probe", "audit"] as const;
  const bound = methods.flatMap((name) => (channel[name] ? [[name, (channel[name] as () => unknown).bind(channel)]] : []));
  const { id, meta, capabilities, config, target, text } = channel;
  const filledFor = (tree: SvcConfig, accountId: string) => fill(tree, own, { accountId, read: secrets.read });
  return {
    id,
    meta,
    capabilities,
    target,
    text,
    ...Object.fromEntries(bound),
    ...signInWith(channel, (login) => ({ ...login, config: filledFor(login.config, login.accountId).filled })),
    config: {
      list: (tree: SvcConfig) => config.list(tree),
      inspect: (tree: SvcConfig, accountId: string) => config.inspect(tree, accountId),
      ...(config.identity ? { identity: config.identity.bind(config) } : {}),
      resolve(tree: SvcConfig, accountId: string) {
        const { filled, lost } = filledFor(tree, accountId);
        try {
          return config.resolve(filled, accountId);
        } catch (error) {
          throw lost ?? error;
        }
      },
    },
  } as Channel;
}

/** An account that signs in may lack secrets; the channel says so itself. */
function signInWith(channel: Channel, withSecrets: (login: ChannelLogin) => ChannelLogin): Pick<Channel, "login" | "logout"> {
  const { login, logout } = channel;
  return {
    ...(login ? { login: (request: ChannelLogin) => login.call(channel, withSecrets(request)) } : {}),
    ...(logout ? { logout: (request: ChannelLogin) => logout.call(channel, withSecrets(request)) } : {}),
  };
}

function fill(
  tree: SvcConfig,
  patterns: readonly string[],
  { accountId, read }: { accountId: string; read: Secrets["read"] },
): { filled: SvcConfig; lost: unknown } {
  let lost: unknown;
  let filled: unknown = tree;
  for (const steps of patterns.flatMap((pattern) => placesOf(tree, pathSteps(pattern)))) {
    // Another account's secret is nothing to this one.
    if (steps[2] === "accounts" && steps[3] !== accountId) continue;
    let value: string | undefined;
    try {
      value = read(steps.map(quoted).join("."));
    } catch (error) {
      lost ??= error;
    }
    filled = put(filled, steps, value);
  }
  return { filled: filled as SvcConfig, lost };
}

function quoted(step: string): string {
  return /^[^.[\]"]+$/.test(step) ? step : `[${JSON.stringify(step)}]`;
}

/** Existing places of a tree that a pattern means. */
function placesOf(tree: unknown, [step, ...rest]: readonly string[], path: readonly string[] = []): string[][] {
  if (step === undefined) return [[...path]];
  // In a list only `*` means something, as where they are masked.
  if (Array.isArray(tree)) return step === "*" ? tree.flatMap((item, i) => placesOf(item, rest, [...path, String(i)])) : [];
  if (!isRecord(tree)) return [];
  const keys = step === "*" ? Object.keys(tree) : Object.hasOwn(tree, step) ? [step] : [];
  return keys.flatMap((key) => placesOf(tree[key], rest, [...path, key]));
}

/** A copy with another value at one place; undefined takes it out, but leaves the items of a list where they are. */
function put(tree: unknown, [step, ...rest]: readonly string[], value: string | undefined): unknown {
  if (step === undefined) return value;
  if (Array.isArray(tree)) return tree.with(Number(step), put(tree[Number(step)], rest, value));
  if (!isRecord(tree)) return value;
  const { [step]: before, ...others } = tree;
  const next = rest.length === 0 ? value : put(before, rest, value);
  return next === undefined ? others : { ...others, [step]: next };
}
