import { choosePassages, type Passage } from "./passages.ts";
import type { Search } from "./search-result.ts";

const howToAddModel =
  "No language model is configured, so svc can only quote your notes; to get written answers, add a provider under `models.providers.<vendor>` in the config file or set an API key such as `OPENAI_API_KEY` in the environment.";

/** The whole answer as Markdown: what was found (or why nothing was), then why no language model answers, or how to add one. @param notice see `ModelRequest` */
export function writeAnswer(question: string, search: Search, notice?: string): string {
  const why = notice && `No language model can answer (${notice}), so svc can only quote your notes; \`svc doctor\` says what to do.`;
  return `${body(question, search)}\n\n${why ?? howToAddModel}`;
}

function body(question: string, search: Search): string {
  if (search.kind === "no-tool") {
    return question === ""
      ? "There was no question to look up."
      : "The memory search is not available to this agent, so there is nothing to answer from.";
  }
  if (search.kind === "failed")
    return `The memory search did not work: ${search.reason.replace(/\.$/, "")}.${search.action ? ` ${search.action}` : ""}`;
  const passages = search.hits.length === 0 ? [] : choosePassages(question, search.hits, search.keywordsOnly);
  if (passages.length === 0)
    return `There is nothing about this in the notes of this agent.${search.partial ? " The search ran out of time, so it is worth asking again." : ""}`;
  return [
    passages.length === 1 ? "This is in your notes:" : "These passages are in your notes, the closest first:",
    ...passages.map(quote),
  ].join("\n\n");
}

/** A block quote, and below it the footer on a line of its own that user interfaces read. */
function quote(passage: Passage): string {
  const lines = passage.lines.map((line) => `> ${asQuoted(line)}`.trimEnd()).join("\n");
  return passage.citation === undefined ? lines : `${lines}\n\nSource: ${passage.citation}`;
}

/** Headings of a note are not headings of the answer. */
function asQuoted(line: string): string {
  const mark = /^#{1,6}\s+/.exec(line)?.[0];
  if (mark === undefined) return line;
  return `**${line
    .slice(mark.length)
    .replace(/(?<!#)#+$/, "")
    .trimEnd()}**`;
}
