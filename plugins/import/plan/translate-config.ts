import { isRecord } from "svc/sdk";
import { formatConfigPath, REDACTED_VALUE, type Tree } from "svc/sdk/internal";
import { keepKnownKeys } from "./known-keys.ts";
import type { LeftOut } from "./left-out.ts";

/** Sections that are taken over key by key; the config of svc decides about each of them. */
const taken = new Set(["agents", "bindings", "channels", "cron", "env", "logging", "messages", "models", "session", "tools"]);

/** Sections with a reason of their own why they stay. */
const refusedSections: Readonly<Record<string, string>> = {
  gateway: "this gateway has an address and secrets of its own",
  plugins: "plugins are code for another gateway; install those of svc",
  hooks: "webhooks get a token and mappings of their own; see the guide for webhooks",
  auth: "logins are not imported; set models.providers.<vendor>.apiKey",
  skills: "skills are not taken over; copy their folders to skills/ in the workspace",
  browser: "a browser is not part of this release",
};
const NO_COUNTERPART = "there is no such section here";
const OWN_FOLDER = "svc uses a folder of its own; the notes are copied into it";

/** Keys that have another name here, by channel; `*` holds for all. */
const channelKeys: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "*": { "dm.policy": "dmPolicy", "dm.allowFrom": "allowFrom" },
  telegram: { botToken: "token" },
  signal: { httpHost: "host", httpPort: "port" },
  irc: { channels: "rooms" },
};

/** A config in the words of svc, and everything that has none. */
export interface Translated {
  config: Tree;
  leftOut: LeftOut[];
}

/**
 * Turns a foreign config into one of svc: sections, names and values that differ are translated, and what has no counterpart is listed. Whether the rest fits is
 * for the config's own checks to say. References such as `${NAME}` and objects that name a secret stay as they are.
 * @param known `channels`: JSON Schemas of the channels there are here, by id
 */
export function translateConfig(source: Tree, known: { channels: Readonly<Record<string, unknown>> }): Translated {
  const leftOut: LeftOut[] = [];
  const leave = (path: ReadonlyArray<string | number>, reason: string) =>
    leftOut.push({ path: `config:${formatConfigPath(path)}`, reason });
  const config: Tree = {};
  for (const [section, value] of Object.entries(source)) {
    if (!taken.has(section)) leave([section], refusedSections[section] ?? NO_COUNTERPART);
    else config[section] = withoutIncludes(value, [section], leave);
  }
  if (isRecord(config.agents)) config.agents = agentsOf(config.agents, leave);
  if (isRecord(config.channels)) config.channels = channelsOf(config.channels, known.channels, leave);
  if (Array.isArray(config.bindings)) config.bindings = config.bindings.map(bindingOf);
  if (isRecord(config.session)) config.session = sessionOf(config.session);
  if (isRecord(config.logging) && config.logging.file !== undefined) {
    config.logging = without(config.logging, "file");
    leave(["logging", "file"], "each gateway writes a log of its own");
  }
  if (isRecord(config.env)) config.env = envOf(config.env, leave);
  return { config: definedOnly(config), leftOut };
}

type Leave = (path: ReadonlyArray<string | number>, reason: string) => void;

/** Keys that would reach the prototype of an object. */
const forbidden = new Set(["__proto__", "constructor", "prototype"]);

/** Included files are not followed: they may stand anywhere. */
function withoutIncludes(value: unknown, path: ReadonlyArray<string | number>, leave: Leave): unknown {
  if (Array.isArray(value)) return value.map((item, i) => withoutIncludes(item, [...path, i], leave)).filter((item) => item !== undefined);
  if (value === REDACTED_VALUE) {
    leave(path, "it stands for a secret that is not in the file");
    return undefined;
  }
  if (!isRecord(value)) return value;
  if (Object.hasOwn(value, "$include")) {
    leave(path, "it is included from another file; put its text in its place and import again");
    return undefined;
  }
  const out: Tree = {};
  for (const [key, inner] of Object.entries(value)) {
    if (forbidden.has(key)) leave([...path, key], "it is no name of a key");
    else out[key] = withoutIncludes(inner, [...path, key], leave);
  }
  return definedOnly(out);
}

function agentsOf(agents: Tree, leave: Leave): Tree {
  const own = (entry: Tree, path: ReadonlyArray<string | number>): Tree => {
    const { workspace, agentDir, ...rest } = entry;
    if (workspace !== undefined) leave([...path, "workspace"], OWN_FOLDER);
    if (agentDir !== undefined) leave([...path, "agentDir"], OWN_FOLDER);
    return typeof rest.id === "string" ? { ...rest, id: rest.id.toLowerCase() } : rest;
  };
  const { defaults, list, ...rest } = agents;
  for (const key of Object.keys(rest)) leave(["agents", key], "there is no such key here");
  return definedOnly({
    defaults: isRecord(defaults) ? own(defaults, ["agents", "defaults"]) : undefined,
    list: Array.isArray(list) ? list.filter(isRecord).map((entry, i) => own(entry, ["agents", "list", i])) : undefined,
  });
}

/** A channel that is new here stays off until somebody switches it on: one account cannot serve two programs. */
function channelsOf(channels: Tree, known: Readonly<Record<string, unknown>>, leave: Leave): Tree {
  const out: Tree = {};
  for (const [id, section] of Object.entries(channels)) {
    if (!isRecord(section)) continue;
    if (id === "defaults") out[id] = section;
    else if (!Object.hasOwn(known, id)) leave(["channels", id], "there is no such channel here");
    else out[id] = { ...channelOf(id, section, { schema: known[id], leave }), enabled: false };
  }
  return out;
}

function channelOf(id: string, section: Tree, { schema, leave }: { schema: unknown; leave: Leave }): Tree {
  const { accounts, ...rest } = renamed(id, section);
  const all = isRecord(accounts)
    ? Object.fromEntries(Object.entries(accounts).map(([name, account]) => [name, isRecord(account) ? renamed(id, account) : account]))
    : undefined;
  const onUnknown = (path: ReadonlyArray<string | number>) => leave(path, "there is no such key here");
  return keepKnownKeys({ ...rest, ...(all ? { accounts: all } : {}) }, schema, { path: ["channels", id], onUnknown }) as Tree;
}

function renamed(channel: string, section: Tree): Tree {
  const names = { ...channelKeys["*"], ...channelKeys[channel] };
  const out: Tree = { ...section };
  for (const [from, to] of Object.entries(names)) {
    const [head = "", key] = from.split(".");
    const holder = out[head];
    const value = key === undefined ? holder : isRecord(holder) ? holder[key] : undefined;
    if (value === undefined || out[to] !== undefined) continue;
    out[to] = value;
    if (key === undefined) delete out[head];
    else out[head] = without(holder as Tree, key);
  }
  if (isRecord(out.dm) && Object.keys(out.dm).length === 0) delete out.dm;
  return out;
}

function bindingOf(binding: unknown): unknown {
  if (!isRecord(binding) || !isRecord(binding.match)) return binding;
  const { peer, guildId, ...rest } = binding.match;
  return {
    ...binding,
    match: definedOnly({
      ...rest,
      peer: isRecord(peer) && peer.kind === "dm" ? { ...peer, kind: "direct" } : peer,
      teamId: rest.teamId ?? guildId,
    }),
  };
}

function sessionOf(session: Tree): Tree {
  const { idleMinutes, resetByType, ...rest } = session;
  const byType =
    isRecord(resetByType) && resetByType.dm !== undefined ? { ...without(resetByType, "dm"), direct: resetByType.dm } : resetByType;
  const idle = idleMinutes !== undefined && rest.reset === undefined ? { mode: "idle", idleMinutes } : rest.reset;
  return definedOnly({ ...rest, reset: idle, resetByType: byType });
}

/** Variables stand directly in the section there, or in `vars`; here only in `vars`. */
function envOf(env: Tree, leave: Leave): Tree {
  const { vars, shellEnv, ...direct } = env;
  const all = { ...direct, ...(isRecord(vars) ? vars : {}) };
  for (const [name, value] of Object.entries(all)) {
    if (typeof value === "string") continue;
    leave(["env", name], "its value is no text");
    delete all[name];
  }
  return definedOnly({ vars: Object.keys(all).length > 0 ? all : undefined, shellEnv });
}

function without(tree: Tree, key: string): Tree {
  const { [key]: _left, ...rest } = tree;
  return rest;
}

function definedOnly(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined));
}
