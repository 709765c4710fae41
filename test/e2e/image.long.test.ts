import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { commandPath, missingOf, skippedFor } from "../servers/needs.ts";
import { haveNodeImage } from "../servers/node-image.ts";
import { root } from "./_cli.ts";

const exec = promisify(execFile);
const MINUTE = 60_000;

const missing = missingOf(["podman", "debootstrap"]);
const needsRoot = process.getuid?.() === 0 ? [] : ["root"];
const { describe } =
  [...missing, ...needsRoot].length > 0
    ? skippedFor([...missing, ...needsRoot].join(" and "))
    : { describe: (await import("vitest")).describe };

/** Runs podman and returns what it printed. `runc` is taken where it is: it also runs where control groups are of both versions. */
async function podman(...args: string[]): Promise<string> {
  const runtime = commandPath("runc") ? ["--runtime", "runc"] : [];
  const { stdout } = await exec("podman", [...runtime, ...args], { maxBuffer: 64 * 1024 * 1024, timeout: 20 * MINUTE });
  return stdout.trim();
}

describe("the image", () => {
  const name = `svc-test-${process.pid}`;
  const token = "a-token-of-a-test-that-nobody-guesses";

  beforeAll(async () => {
    const isStandIn = await haveNodeImage();
    // A stand-in is not asked for elsewhere, and `RUN` needs no more of the machine than a folder.
    const options = ["--format=docker", "--layers=false", "--isolation=chroot", "--network=host", ...(isStandIn ? ["--pull=never"] : [])];
    await podman("build", ...options, "-t", name, root);
    await podman("volume", "create", name);
  }, 20 * MINUTE);

  afterAll(async () => {
    await podman("rm", "-f", name).catch(() => undefined);
    await podman("volume", "rm", "-f", name).catch(() => undefined);
    await podman("rmi", "-f", name).catch(() => undefined);
  });

  /** As `compose.yaml` does. Limits are named because not every machine lets a container have podman's own. */
  async function start(): Promise<void> {
    const guarded = ["--read-only", "--user", "node", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--tmpfs", "/tmp"];
    const limits = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"];
    const settings = ["-e", `SVC_GATEWAY_TOKEN=${token}`, "-v", `${name}:/var/lib/svc`];
    await podman("run", "-d", "--name", name, "--network", "none", ...guarded, ...limits, ...settings, name);
    await eventually(
      () =>
        podman("healthcheck", "run", name).then(
          () => true,
          () => false,
        ),
      MINUTE,
    );
  }

  const svc = (...args: string[]) => podman("exec", name, "svc", ...args);

  test(
    "runs read-only and without root, is healthy, answers, stops in order, and finds its state again",
    async () => {
      await start();
      expect(await podman("exec", name, "id", "-u")).not.toBe("0");
      await expect(podman("exec", name, "touch", "/opt/svc/file")).rejects.toThrow("Read-only file system");
      expect(await svc("agent", "--message", "When does the train leave?")).toContain("No language model is configured");
      expect(await podman("logs", name)).toMatch(/signed in: svc dashboard/);
      const before = await svc("sessions", "list", "--json");

      await podman("stop", name);
      expect(await podman("inspect", "-f", "{{.State.ExitCode}}", name)).toBe("0");
      await podman("rm", name);

      await start();
      expect(JSON.parse(await svc("sessions", "list", "--json")).sessions.map(({ key }: { key: string }) => key)).toEqual(
        JSON.parse(before).sessions.map(({ key }: { key: string }) => key),
      );
    },
    5 * MINUTE,
  );
});
