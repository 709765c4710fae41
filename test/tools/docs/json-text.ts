const LINE_WIDTH = 140;

/** JSON as the formatter of this repository would leave it: objects over lines, lists of plain values on one line where they fit. */
export function jsonText(value: unknown): string {
  return `${format(value, { indent: "", before: 0 })}\n`;
}

interface At {
  indent: string;
  /** Columns taken by what stands before the value, and by a comma after it. */
  before: number;
}

function format(value: unknown, { indent, before }: At): string {
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const flat = `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
    const isPlain = value.every((one) => typeof one !== "object" || one === null);
    if (value.length === 0 || (isPlain && before + flat.length <= LINE_WIDTH)) return flat;
    const lines = value.map((one, i) => `${deeper}${format(one, { indent: deeper, before: deeper.length + comma(value, i) })}`);
    return `[\n${lines.join(",\n")}\n${indent}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  if (entries.length === 0) return "{}";
  const lines = entries.map(([key, one], i) => {
    const head = `${deeper}${JSON.stringify(key)}: `;
    return `${head}${format(one, { indent: deeper, before: head.length + comma(entries, i) })}`;
  });
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

/** Columns of the comma behind a member; the last has none. */
function comma(members: readonly unknown[], index: number): number {
  return index < members.length - 1 ? 1 : 0;
}
