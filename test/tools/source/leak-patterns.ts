/** Names are put together from halves, so that this file is no finding itself. */
const otherProducts = [
  ["open", "claw"],
  ["clawd", "bot"],
  ["molt", "bot"],
].map((halves) => halves.join(""));

const registryHosts = [
  ["registry", "npmjs"],
  ["registry", "yarnpkg"],
  ["files", "pythonhosted"],
  ["deb", "debian", "org"],
].map((parts) => parts.join("\\."));

interface LeakRule {
  name: string;
  pattern: RegExp;
}

const rules: LeakRule[] = [
  { name: "path of a build machine", pattern: /(?<![a-z.~}\w-])\/(?:work|farm|root|workspaces|builds|home\/runner)\/[\w.-]/g },
  { name: "registry host", pattern: new RegExp(`${registryHosts.join("|")}|\\bnpm\\.[a-z-]+\\.internal`, "gi") },
  { name: "another product's name", pattern: new RegExp(otherProducts.join("|"), "gi") },
];

export interface Leak {
  file: string;
  line: number;
  rule: string;
  text: string;
}

/**
 * Texts that must not leave the machine they were written on.
 * @param ownPaths absolute paths of this checkout and of this user, also forbidden wherever they are
 */
export function leaksIn(file: string, text: string, ownPaths: readonly string[] = []): Leak[] {
  const found: Leak[] = [];
  for (const { name, pattern } of rules) {
    for (const m of text.matchAll(pattern)) found.push({ file, line: lineAt(text, m.index), rule: name, text: m[0] });
  }
  for (const path of ownPaths) {
    const at = text.indexOf(path);
    if (at !== -1) found.push({ file, line: lineAt(text, at), rule: "path of this machine", text: path });
  }
  return found;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** Addresses in a lockfile: it must name no registry. */
export function lockfileAddresses(text: string): string[] {
  return [...text.matchAll(/"resolved":\s*"([^"]+)"/g)].map((m) => m[1] as string).filter((address) => /^\w+:\/\//.test(address));
}
