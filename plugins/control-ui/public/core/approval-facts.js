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
    ? `Agent ${request.agentId}`
    : approvalKind === "plugin" && text(request.pluginId)
      ? `Plugin ${request.pluginId}`
      : "Somebody";
  const title = approvalKind === "exec" ? `${who} asks to run a command` : `${who} asks: ${text(request.title) ?? "may it go on?"}`;
  const details = [
    text(request.cwd) && `in ${request.cwd}`,
    text(request.host) && `on ${request.host}`,
    text(request.toolName) && `tool ${request.toolName}`,
    text(request.sessionKey) && `session ${request.sessionKey}`,
    (request.severity === "critical" || request.severity === "warning") && `severity: ${request.severity}`,
  ];
  const command = text(request.command);
  const description = approvalKind === "plugin" ? text(request.description) : undefined;
  return {
    title,
    ...(command ? { command } : {}),
    ...(description ? { description } : {}),
    details: details.filter(Boolean).join(" · "),
    expires: expiresAtMs > now ? `expires in ${span(expiresAtMs - now)}` : "expired",
    canAlways: Array.isArray(request.allowedDecisions) && request.allowedDecisions.includes("allow-always"),
  };
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" && value !== "" ? value : undefined;
}
