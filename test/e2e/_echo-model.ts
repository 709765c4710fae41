/** A plugin, as a file of one, with the model `echo/echo`: it repeats the text of a message without the frames around it. A text with "at length" is answered in two parts, with time between them. */
export const echoModel = `
import { definePlugin, stripFrames } from "svc/sdk";
export default definePlugin({ id: "echo", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  ctx.registerModelProvider({
    id: "echo", name: "Echo", defaultModel: "echo", models: () => [{ id: "echo", name: "Echo", input: ["text"] }], available: () => ({ ok: true }),
    async *stream({ messages }) {
      const last = messages.findLast(({ role }) => role === "user");
      yield { type: "text", delta: "You said: " + stripFrames(last.content.map((part) => part.text ?? "").filter((text) => !text.startsWith("System: Now: ")).join(" ")) };
      if (JSON.stringify(last.content).includes("at length")) {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        yield { type: "text", delta: ", and so on" };
      }
      yield { type: "finish", reason: "stop" };
    },
  });
} });`;
