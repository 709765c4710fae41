import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./gateway.mjs";
import { freePort } from "./process.mjs";

/** The client library that the channel uses, or undefined where its packages are not installed. */
export function mqttLibrary() {
  try {
    return createRequire(join(root, "plugins/channel-mqtt/vendor/package.json"))("mqtt");
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** A broker of its own, or undefined where there is none on this machine. */
export async function startMosquitto() {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-broker-"));
  const port = await freePort();
  const file = join(folder, "mosquitto.conf");
  writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nlog_dest none\n`);
  const child = spawn("mosquitto", ["-c", file], { stdio: "ignore" });
  let failure;
  child.once("error", (error) => (failure = error));
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await listens(port)); tries += 1) {
    if (!failure && tries < 300) continue;
    await stop();
    if (failure?.code === "ENOENT") return undefined;
    throw failure ?? new Error("mosquitto does not listen");
  }
  return { port, stop };
}

async function listens(port) {
  const socket = connect({ host: "127.0.0.1", port });
  const found = await new Promise((resolve) => socket.once("connect", () => resolve(true)).once("error", () => resolve(false)));
  socket.destroy();
  if (!found) await new Promise((resolve) => setTimeout(resolve, 50));
  return found;
}
