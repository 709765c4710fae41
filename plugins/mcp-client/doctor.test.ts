import { expect, test } from "vitest";
import { serverFindings } from "./doctor.ts";

const server = { name: "tracker", transport: "http" as const, tools: [] };

test.each([
  [{ state: "ready" as const }, []],
  [{ state: "connecting" as const }, []],
  [{ state: "login" as const }, [["warning", "svc mcp login tracker"]]],
  [{ state: "ready" as const, problem: "a call wanted more rights" }, [["warning", "svc mcp login tracker"]]],
  [{ state: "waiting" as const, problem: "refused" }, [["error", "check mcp.servers.tracker; svc mcp status shows what it does"]]],
  [{ state: "misconfigured" as const }, [["error", "check mcp.servers.tracker; svc mcp status shows what it does"]]],
])("%j is found as %j", (status, found) => {
  const findings = serverFindings([{ ...server, ...status }]);
  expect(findings.map(({ severity, fix }) => [severity, fix])).toEqual(found);
  for (const { message } of findings) expect(message).toContain(status.problem ?? "tracker");
});
