import type { MarkdownIR, RenderedText } from "svc/sdk";

/** Plain text: programs read it as well as people. A link has its address behind it. */
export function renderText({ text, spans }: MarkdownIR): RenderedText {
  const links = spans.filter(({ kind, href }) => kind === "link" && href !== undefined).toSorted((a, b) => a.end - b.end);
  let rendered = "";
  let done = 0;
  for (const { start, end, href } of links) {
    if (end < done) continue;
    rendered += text.slice(done, end);
    if (href !== text.slice(start, end)) rendered += ` (${href})`;
    done = end;
  }
  return { text: `${rendered}${text.slice(done)}`.replace(/(?![\n\t])\p{Cc}/gu, "") };
}
