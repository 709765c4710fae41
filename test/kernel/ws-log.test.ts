import { createTestGateway, eventually } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { tapWsLog } from "../../kernel/cli/ws-log.ts";
import { fixture } from "./_fixtures.ts";
import { connected } from "./_ws.ts";

test.each([
  ["compact", ["connect gateway-client (backend)", "leaky.ping failed: failed", "close gateway-client 1005"]],
  ["full", ["connect gateway-client (backend)", "health", "leaky.ping failed: failed", "close gateway-client 1005"]],
] as const)("--ws-log %s writes what it promises", async (mode, lines) => {
  const gateway = await createTestGateway({ plugins: [fixture("leaky")] });
  try {
    const seen: string[] = [];
    const logger = {
      trace: () => undefined,
      debug: () => undefined,
      info: (m: string) => seen.push(m),
      warn: (m: string) => seen.push(m),
      error: () => undefined,
    };
    tapWsLog(gateway.gateway, { ...logger, child: () => logger } as never, mode);
    const socket = await connected(gateway);
    await socket.request("1", "health");
    await socket.request("2", "leaky.ping", { fail: true });
    await socket.close();
    await eventually(() => seen.length === lines.length);
    expect(seen).toEqual(lines);
  } finally {
    await gateway.close();
  }
});
