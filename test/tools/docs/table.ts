/** A Markdown table; pipes and line breaks inside cells are escaped. */
export function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ");
}

/** A whole page with the note that it is generated. */
export function page(title: string, intro: string, ...parts: string[]): string {
  const note = "<!-- Written by `npm run docs` from the values in the code; do not edit. -->";
  return `${[`# ${title}`, note, intro, ...parts].join("\n\n")}\n`;
}
