import { expect, test } from "vitest";
import { serverFindings } from "./doctor.ts";
import type { ServerStatus } from "./servers.ts";

const server = { name: "tracker", transport: "http" as const, tools: [] };

test.each<[Pick<ServerStatus, "state" | "problem">, string[][]]>([
  [{ state: "ready" }, []],
  [{ state: "connecting" }, []],
  [{ state: "login" }, [["warning", "svc mcp login tracker"]]],
  [{ state: "ready", problem: "a call wanted more rights" }, [["warning", "svc mcp login tracker"]]],
  [{ state: "waiting", problem: "refused" }, [["error", "check mcp.servers.tracker; svc mcp status shows what it does"]]],
  [{ state: "misconfigured" }, [["error", "check mcp.servers.tracker; svc mcp status shows what it does"]]],
])("%j is found as %j", (status, found) => {
  const findings = serverFindings([{ ...server, ...status }]);
  expect(findings.map(({ severity, fix }) => [severity, fix])).toEqual(found);
  for (const { message } of findings) expect(message).toContain(status.problem ?? "tracker");
});
