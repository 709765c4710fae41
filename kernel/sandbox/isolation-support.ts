import type { Contributes, Manifest } from "../../sdk/types/manifest.ts";

/** Contributions that can cross into a worker or a child process; commands run in the `svc` program anyway. */
const carried = new Set<keyof Contributes>(["tools", "hookPresets", "cli"]);

/**
 * Judges whether a plugin can run with `isolation`, by what its manifest says. Observe hooks are not in the manifest: they are carried, and a hook of
 * another kind is refused when it is registered.
 * @returns what is in the way and what to do; undefined when nothing is
 */
export function isolationProblem({ id, contributes = {}, provides = [], slot }: Manifest, isolation: string): string | undefined {
  const declared = Object.entries(contributes).filter(([key, ids]) => !carried.has(key as keyof Contributes) && (ids?.length ?? 0) > 0);
  const others = [
    ...declared.map(([key]) => `contributes.${key}`),
    ...(provides.length > 0 ? ["provides"] : []),
    ...(slot ? ["slot"] : []),
  ];
  if (others.length === 0) return undefined;
  return `"${isolation}" carries tools, hook presets and observe hooks only, and the manifest of "${id}" has ${others.join(", ")}; leave plugins.entries.${id}.isolation out`;
}
