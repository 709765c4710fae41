import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { skippedFor } from "../../../test/servers/needs.ts";
import { AccountHeldError, lockAccount } from "./account-lock.ts";

// `darwin` is the way of systems whose sockets are files; it works on Linux as well.
describe.each(["linux", "darwin"] as const)("the lock of an account, as on %s", (platform) => {
  const isHere = process.platform === "linux" || (platform === "darwin" && process.platform !== "win32");
  const { test: onPlatform } = isHere ? { test } : skippedFor(platform);

  onPlatform("is had by one, named to the other, and free when it is given back", async () => {
    const identity = randomUUID();
    const lock = await lockAccount(identity, platform);
    await expect(lockAccount(identity, platform)).rejects.toThrow(`(process ${process.pid})`);
    await (await lockAccount(`${identity}-other`, platform)).release();
    await lock.release();
    await (await lockAccount(identity, platform)).release();
  });

  onPlatform("is free when its process was killed", async () => {
    const identity = randomUUID();
    const program = `
      import { createJiti } from ${JSON.stringify(import.meta.resolve("jiti"))};
      const { lockAccount } = await createJiti(${JSON.stringify(import.meta.url)}).import("./account-lock.ts");
      await lockAccount(${JSON.stringify(identity)}, ${JSON.stringify(platform)});
      process.stdout.write("held");
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(child.stdout, "data");
      await expect(lockAccount(identity, platform)).rejects.toThrow(AccountHeldError);
    } finally {
      const gone = once(child, "close");
      child.kill("SIGKILL");
      await gone;
    }
    await eventually(async () => {
      await (await lockAccount(identity, platform)).release();
      return true;
    });
  });
});
