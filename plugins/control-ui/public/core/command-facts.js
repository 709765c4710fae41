import { texts } from "../texts/chat-more.js";

/**
 * Commands of a chat, as they are completed while somebody types. Pure.
 *
 * @typedef {{ name: string, arguments?: string, about: string, scope: "write" | "approvals" | "admin" }} Command
 */

const MAX_SHOWN = 12;

/**
 * Commands that what was typed may become, those that begin so first; of one that is typed out the one itself.
 * @param {readonly Command[]} commands @param {string} text
 */
export function matching(commands, text) {
  const typed = text.trimEnd().toLowerCase();
  if (text !== text.trimEnd()) return commands.filter(({ name }) => name.toLowerCase() === typed);
  const word = typed.replace(/^\//, "");
  const begin = commands.filter(({ name }) => name.toLowerCase().startsWith(typed));
  const within = word === "" ? [] : commands.filter((one) => !begin.includes(one) && one.name.toLowerCase().includes(word));
  return [...begin, ...within].slice(0, MAX_SHOWN);
}

/** Text of the field once a command was chosen. @param {Command} command */
export function completed({ name, arguments: behind }) {
  return behind === undefined ? name : `${name} `;
}

/** True when choosing the command would change nothing: Enter then sends. @param {Command} command @param {string} text */
export function isTyped(command, text) {
  return text.trimEnd() === command.name;
}

/** Reason why this sign-in cannot give a command; undefined when it can. @param {Command} command @param {readonly string[]} scopes */
export function refusalOf({ scope }, scopes) {
  if (scopes.includes("operator.admin") || scopes.includes(`operator.${scope}`)) return undefined;
  return scope === "admin" ? texts.needsAdministrator : scope === "approvals" ? texts.needsRightApprove : texts.needsRightWrite;
}
