import { isFromPerson, questionOf } from "./turns.js";

/**
 * Walks through what was asked in a conversation before, as long as nothing else was typed. Pure.
 * @param {readonly import("./turns.js").Message[]} messages
 * @param {{ text: string, at: number, step: number }} from `at`: questions back from the newest, -1 before the first step; `step`: 1 is further back
 * @returns {{ at: number, text: string } | undefined} undefined when there is nowhere to go
 */
export function recall(messages, { text, at, step }) {
  const asked = messages
    .filter(isFromPerson)
    .map(({ content }) => questionOf(content).text)
    .reverse();
  const next = Math.max(-1, Math.min(at + step, asked.length - 1));
  return next === at || (text !== "" && text !== asked[at]) ? undefined : { at: next, text: asked[next] ?? "" };
}
