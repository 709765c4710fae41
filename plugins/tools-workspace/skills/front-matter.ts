/** Keys and texts of the front matter of a Markdown file; undefined when it has none. Plain, quoted and folded values are read, other YAML is not. */
export function frontMatter(text: string): Record<string, string> | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---");
  if (end < 0) return undefined;
  const values: Record<string, string> = Object.create(null);
  let key: string | undefined;
  for (const line of lines.slice(1, end)) {
    const isMore = /^[ \t]/.test(line);
    if (isMore && key !== undefined) values[key] = `${values[key] ?? ""} ${line.trim()}`.trim();
    else {
      const colon = line.indexOf(":");
      key = colon > 0 && !isMore ? line.slice(0, colon).trim() : undefined;
      if (key !== undefined) values[key] = plain(line.slice(colon + 1).trim());
    }
  }
  return values;
}

function plain(value: string): string {
  if (/^[>|][+-]?$/.test(value)) return "";
  const quote = value[0];
  const isQuoted = value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote);
  return isQuoted ? value.slice(1, -1) : value;
}
