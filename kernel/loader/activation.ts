import type { Contributes, Manifest } from "../../sdk/types/manifest.ts";

/** Uses that can activate a waiting plugin, and the manifest lists that name them. */
const kinds: Readonly<Record<string, keyof Contributes>> = {
  channel: "channels",
  cli: "cli",
  embedding: "embeddingAdapters",
  http: "http",
  model: "modelProviders",
  rpc: "rpc",
  service: "services",
  tool: "tools",
};

/** Contribution points by the kind of use that asks for them. */
const kindOfPoint: Readonly<Record<string, string>> = {
  channel: "channel",
  embeddingAdapter: "embedding",
  modelProvider: "model",
  service: "service",
  tool: "tool",
};

/** Plugins that are loaded on first use of something they declare. */
export interface Activation {
  /** Notes a plugin that waits; `load` is called at the first use and shared by everybody who uses it meanwhile. */
  add(id: string, manifest: Manifest, load: () => Promise<void>): void;
  remove(id: string): void;
  /** Declared names of one kind that nobody has used yet. */
  names(kind: string): string[];
  /** Loads who declares this; undefined when nobody waits for it. Without a name: everybody who declares something of the kind. */
  use(kind: string, name?: string): Promise<void> | undefined;
  /** Is there a plugin to be loaded by the first use of this contribution? Loads nothing. */
  waitsAt(point: string, name: string): boolean;
  /** Loads one plugin, if it waits: somebody who is loading cannot do without it. */
  useOf(id: string): Promise<void> | undefined;
  /** The same by contribution point. */
  usePoint(point: string, name?: string): Promise<void> | undefined;
}

interface Waiting {
  names: Array<{ kind: string; name: string }>;
  load: () => Promise<void>;
  loading?: Promise<void>;
}

export function createActivation(): Activation {
  const waiting = new Map<string, Waiting>();
  const declarers = (kind: string | undefined, name?: string) =>
    [...waiting.values()].filter((w) => w.names.some((n) => n.kind === kind && isUseOf(n.kind, n.name, name)));
  const bring = (w: Waiting): Promise<void> => {
    w.loading ??= w.load();
    return w.loading;
  };
  const use: Activation["use"] = (kind, name) => {
    if (waiting.size === 0) return undefined;
    const found = declarers(kind, name);
    if (found.length === 0) return undefined;
    return Promise.all(found.map(bring)).then(() => undefined);
  };
  return {
    add: (id, manifest, load) => void waiting.set(id, { names: declaredUses(manifest), load }),
    remove: (id) => void waiting.delete(id),
    names: (kind) => [...waiting.values()].flatMap((w) => w.names.filter((n) => n.kind === kind).map((n) => n.name)),
    use,
    waitsAt: (point, name) => waiting.size > 0 && declarers(kindOfPoint[point], name).length > 0,
    useOf(id) {
      const one = waiting.get(id);
      return one && bring(one);
    },
    usePoint(point, name) {
      const kind = kindOfPoint[point];
      return kind === undefined ? undefined : use(kind, name);
    },
  };
}

/** True for a manifest whose plugin is loaded on first use. */
export function isLazy(manifest: Manifest | undefined): boolean {
  return Array.isArray(manifest?.activation) && manifest.activation.length > 0 && !manifest.activation.includes("startup");
}

/** The declared contributions that `activation` names; `*` in an entry stands for any rest. */
function declaredUses(manifest: Manifest): Waiting["names"] {
  const entries = Array.isArray(manifest.activation) ? manifest.activation : [];
  return entries.flatMap((entry) => {
    const at = entry.indexOf(":");
    const [kind, pattern] = [entry.slice(0, at), entry.slice(at + 1)];
    const key = kinds[kind];
    const declared = key === undefined ? [] : (manifest.contributes?.[key] ?? []);
    return declared.filter((name) => fits(name, pattern)).map((name) => ({ kind, name }));
  });
}

function fits(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** A declared route may be a prefix; `*` as a declared name stands for names known only at run time. */
function isUseOf(kind: string, declared: string, used: string | undefined): boolean {
  if (used === undefined || declared === used || declared === "*") return true;
  return kind === "http" && used.startsWith(`${declared}/`);
}
