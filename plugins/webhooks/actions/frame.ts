import { EXTERNAL_NOTICE, frameExternal, wrapExternal } from "svc/sdk";

/** A piece of a rendered text: of the operator's template, or out of the request. */
export interface Part {
  text: string;
  isExternal: boolean;
}

/** A text in more pieces than this is framed whole. */
const MAX_FRAMES = 50;

/** Source that a frame names: mail has a label of its own. */
export function sourceLabel({ isMail, sessionKey }: { isMail: boolean; sessionKey?: string }): "Email" | "Webhook" {
  return isMail || /^agent:[^:]+:hook:gmail:/i.test(sessionKey ?? "") ? "Email" : "Webhook";
}

/**
 * The text of a wake as the agent reads it: what came with the request stands in frames, the operator's own words between them do not. One warning
 * stands before all of it; a text without anything from outside has none.
 */
export function frameParts(parts: readonly Part[], meta: { source: string; task?: string }): string {
  const joined = joinNeighbours(parts);
  if (!joined.some((part) => part.isExternal)) return joined.map((part) => part.text).join("");
  if (joined.length === 1 || joined.filter((part) => part.isExternal).length > MAX_FRAMES) {
    return wrapExternal(joined.map((part) => part.text).join(""), meta);
  }
  const lines = joined.map((part) =>
    part.isExternal ? frameExternal(part.text, meta) : part.text.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, ""),
  );
  return `${EXTERNAL_NOTICE}\n\n${lines.filter((line) => line !== "").join("\n")}`;
}

/** Values with nothing but blanks between them are one; a value of blanks is none. */
function joinNeighbours(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    if (part.text === "") continue;
    const last = joined.at(-1);
    const isBlank = part.text.trim() === "";
    if (last && (last.isExternal === part.isExternal || isBlank)) last.text += part.text;
    else if (!isBlank || !part.isExternal) joined.push({ ...part });
  }
  return trimEnds(joined);
}

function trimEnds(parts: Part[]): Part[] {
  const [first] = parts;
  const last = parts.at(-1);
  if (first) first.text = first.text.trimStart();
  if (last) last.text = last.text.trimEnd();
  return parts.filter((part) => part.text !== "");
}
