import type { DoctorFinding } from "svc/sdk";
import type { ServerStatus } from "./servers.ts";

/** Findings of `svc doctor` about servers that agents cannot use. Pure. */
export function serverFindings(servers: readonly ServerStatus[]): DoctorFinding[] {
  return servers.flatMap(({ name, state, problem }): DoctorFinding[] => {
    const path = `mcp.servers.${name}`;
    if (state === "login")
      return [
        { id: "mcp/server", severity: "warning", path, message: `the MCP server "${name}" wants a login`, fix: `svc mcp login ${name}` },
      ];
    if (state === "ready" && problem !== undefined)
      return [
        { id: "mcp/server", severity: "warning", path, message: `the MCP server "${name}": ${problem}`, fix: `svc mcp login ${name}` },
      ];
    if (state !== "waiting" && state !== "misconfigured") return [];
    const fix = `check ${path}; svc mcp status shows what it does`;
    return [
      {
        id: "mcp/server",
        severity: "error",
        path,
        message: `the MCP server "${name}" is not available: ${problem ?? "it does not run"}`,
        fix,
      },
    ];
  });
}
