import { request } from "./conn.js";
import { createReading } from "./reading.js";

/** Commands that the gateway knows, plugins' ones included; read when the first slash is typed, and again with each later one. */
export const commands = createReading(
  async () => /** @type {import("./command-facts.js").Command[]} */ ((await request("commands.list")).commands),
);
