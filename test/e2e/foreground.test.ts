import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { onFreePorts, startInForeground } from "../servers/foreground.ts";

const server = (port: number) => ["-e", `require("node:net").createServer().listen(${port}, "127.0.0.1")`];

test("a server whose port somebody takes before it starts is started on another one", async () => {
  const squatters: Array<ReturnType<typeof createServer>> = [];
  const tried: number[] = [];

  const started = await onFreePorts(1, async ([port = 0]) => {
    tried.push(port);
    if (tried.length === 1) {
      const squatter = createServer().listen(port, "127.0.0.1");
      squatters.push(squatter);
      await once(squatter, "listening");
    }
    return startInForeground(process.execPath, server(port), { ports: [port], name: "a server" });
  });

  expect(tried).toHaveLength(2);
  await started.end("SIGKILL");
  for (const squatter of squatters) squatter.close();
});

test("a program that is not installed, and one that ends, are said by name", async () => {
  await expect(startInForeground("no-such-program", [], { ports: [1] })).rejects.toThrow("no-such-program does not run here");
  const ends = startInForeground(process.execPath, ["-e", "console.error('a wrong option'); process.exit(3)"], { ports: [1], name: "it" });
  await expect(ends).rejects.toThrow(/^it ended with 3: a wrong option/);
});
