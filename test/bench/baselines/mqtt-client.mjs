// The least code that answers people over MQTT with what a model says, by the library that the channel uses: `mqtt-client.mjs <port> <vendor url>`.
import { createRequire } from "node:module";

const [port, vendor] = process.argv.slice(2);
const mqtt = createRequire(new URL("../../../plugins/channel-mqtt/vendor/package.json", import.meta.url))("mqtt");
const client = mqtt.connect({ host: "127.0.0.1", port: Number(port), protocolVersion: 5, clientId: "bare" });
// Without it a packet waits 40 ms for the acknowledgement of the one before it.
client.on("connect", () => client.stream.setNoDelay(true));
client.subscribe("bare/+/in", { qos: 1 });
client.on("message", (topic, payload) => void answer(topic.replace(/in$/, "out"), payload.toString()));

async function answer(topic, content) {
  const body = JSON.stringify({ model: "one", stream: true, messages: [{ role: "user", content }] });
  const response = await fetch(`${vendor}/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await response.text();
  const words = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join("");
  client.publish(topic, words, { qos: 1 });
}
