import type { Manifest } from "../../sdk/types/manifest.ts";
import type { PluginState } from "../../sdk/types/plugin-record.ts";
import { satisfies } from "./version.ts";

/** Facts about one plugin that the graph needs. */
export interface GraphMember {
  id: string;
  version: string;
  manifest: Manifest | undefined;
  /** Record of the plugin; its state is read at every call. */
  record: { readonly state: PluginState; readonly reason?: string };
}

export interface PluginGraph {
  /** Ids that must have settled before this one loads: needed, optional and merely ordered ones. */
  before(id: string): string[];
  /** A need that is not met, as code and reason; undefined when all are. */
  unmet(id: string): { code: string; reason: string } | undefined;
  /** Plugins it cannot do without, as far as they are there. */
  needs(id: string): string[];
  /** Plugins that cannot do without this one. */
  dependents(id: string): string[];
}

/** Reads who needs whom from the manifests of plugins that may load. */
export function createGraph(members: readonly GraphMember[]): PluginGraph {
  const byId = new Map(members.map((m) => [m.id, m]));
  const providers = new Map(members.flatMap((m) => (m.manifest?.provides ?? []).map((service) => [service, m.id] as const)));
  const services = (m: GraphMember, optional: boolean) =>
    (m.manifest?.requires ?? []).filter((r) => r.endsWith("?") === optional).map((r) => r.replace(/\?$/, ""));
  const found = (names: string[]) => names.flatMap((name) => providers.get(name) ?? []);
  const hard = (m: GraphMember) => [...Object.keys(m.manifest?.dependencies ?? {}), ...found(services(m, false))];

  return {
    before(id) {
      const member = byId.get(id);
      return member ? [...hard(member), ...found(services(member, true)), ...(member.manifest?.after ?? [])] : [];
    },
    unmet(id) {
      const member = byId.get(id);
      if (!member) return undefined;
      const nobody = services(member, false).find((name) => !providers.has(name));
      if (nobody !== undefined) return { code: "missing-dependency", reason: `nobody provides ${nobody}` };
      for (const other of hard(member)) {
        const why = unmetBy(byId.get(other), other, member.manifest?.dependencies?.[other]);
        if (why) return why;
      }
      return undefined;
    },
    needs(id) {
      const member = byId.get(id);
      return member ? hard(member).filter((other) => byId.has(other)) : [];
    },
    dependents: (id) => members.filter((m) => hard(m).includes(id)).map((m) => m.id),
  };
}

function unmetBy(other: GraphMember | undefined, id: string, range: string | undefined): { code: string; reason: string } | undefined {
  if (!other) return { code: "missing-dependency", reason: `plugin "${id}" is not there or not enabled` };
  if (range && !satisfies(other.version, range)) {
    return { code: "missing-dependency", reason: `plugin "${id}" is version ${other.version}, needed is ${range}` };
  }
  if (other.record.state === "active" || other.record.state === "degraded") return undefined;
  return {
    code: "dependency-failed",
    reason: `plugin "${id}" is ${other.record.state}${other.record.reason ? `: ${other.record.reason}` : ""}`,
  };
}
