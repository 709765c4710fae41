import { texts } from "../texts/frame.js";
import { span } from "./format.js";

/**
 * A request for approval as the page shows it. Pure.
 *
 * @typedef {{ approvalKind: "exec" | "plugin", id: string, request: Record<string, any>, createdAtMs: number, expiresAtMs: number }} Approval
 * @typedef {{ title: string, command?: string, description?: string, details: string, expires: string, canAlways: boolean }} ApprovalFacts
 */

/**
 * @param {Approval} approval
 * @param {number} now epoch ms
 * @returns {ApprovalFacts}
 */
export function factsOf({ approvalKind, request, expiresAtMs }, now) {
  const who = text(request.agentId)
    ? texts.agent(request.agentId)
    : approvalKind === "plugin" && text(request.pluginId)
      ? texts.plugin(request.pluginId)
      : texts.somebody;
  const title = approvalKind === "exec" ? texts.asksRunCommand(who) : texts.asksText({ who, text: text(request.title) ?? texts.mayItGoOn });
  const details = [
    text(request.cwd) && texts.inFolder(request.cwd),
    text(request.host) && texts.onHost(request.host),
    text(request.toolName) && texts.ofTool(request.toolName),
    text(request.sessionKey) && texts.ofSession(request.sessionKey),
    (request.severity === "critical" || request.severity === "warning") && texts.severity(request.severity),
  ];
  const command = text(request.command);
  const description = approvalKind === "plugin" ? text(request.description) : undefined;
  return {
    title,
    ...(command ? { command } : {}),
    ...(description ? { description } : {}),
    details: details.filter(Boolean).join(" · "),
    expires: expiresAtMs > now ? texts.expires(span(expiresAtMs - now)) : texts.expired,
    canAlways: Array.isArray(request.allowedDecisions) && request.allowedDecisions.includes("allow-always"),
  };
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" && value !== "" ? value : undefined;
}
