/** Models by their use. */
export interface ModelNames {
  embed?: string;
  rerank?: string;
  generate?: string;
}

/**
 * Replaces models in the engine's config, line by line: everything else stays as the engine wrote it. Pure.
 * @returns undefined when it names them already, or no models at all
 */
export function withModels(text: string, models: ModelNames): { text: string; uses: Array<keyof ModelNames> } | undefined {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => /^models:[ \t\r]*$/.test(line));
  if (start === -1) return undefined;
  const next = lines.findIndex((line, at) => at > start && /^[^\s#]/.test(line));
  const end = next === -1 ? lines.length : next;
  const uses: Array<keyof ModelNames> = [];
  const added: string[] = [];
  for (const use of Object.keys(models) as Array<keyof ModelNames>) {
    const value = models[use] as string;
    const at = lines.findIndex((line, i) => i > start && i < end && line.trimStart().startsWith(`${use}:`));
    const line = at === -1 ? undefined : (lines[at] as string);
    if (line !== undefined && scalarOf(line) === value) continue;
    const indent = line === undefined ? "  " : line.slice(0, line.length - line.trimStart().length);
    const written = `${indent}${use}: ${JSON.stringify(value)}`;
    if (at === -1) added.push(written);
    else lines[at] = written;
    uses.push(use);
  }
  if (uses.length === 0) return undefined;
  lines.splice(start + 1, 0, ...added);
  return { text: lines.join("\n"), uses };
}

function scalarOf(line: string): string {
  const value = line.slice(line.indexOf(":") + 1).trim();
  if (value.startsWith('"')) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value;
    }
  }
  return value.startsWith("'") && value.endsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value;
}
