import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { ID_PROPERTY } from "../../plugins/channel-mqtt/message.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type Mosquitto, startMosquitto } from "../servers/mosquitto.ts";
import { needsMqtt } from "../servers/mqtt-library.ts";
import { connectMqttUser, type MqttUser } from "../servers/mqtt-user.ts";
import { aroundMessages, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { echoModel } from "./_echo-model.ts";
import type { Home, Running } from "./_process.ts";

const { describe, test } = await needsMqtt("mosquitto");

let broker: Mosquitto;
let home: Home;
let gateway: Running;
let people: MqttUser;

const config = (port: number) => ({
  gateway: { mode: "local", auth: { token } },
  agents: { defaults: { skipBootstrap: true, model: "echo/echo" } },
  plugins: { load: { paths: ["./echo.ts"] }, ...aroundMessages("channel-mqtt", "echo") },
  session: { dmScope: "per-peer" },
  messages: { inbound: { debounceMs: 0 } },
  channels: {
    mqtt: {
      host: "127.0.0.1",
      port,
      tls: { enabled: false },
      clientId: "agent",
      name: "Agent",
      subscriptions: [
        { topic: "svc/{sender}/in", answerTopic: "svc/{sender}/out" },
        { topic: "rooms/{group}/{sender}/in", answerTopic: "rooms/{group}/out" },
      ],
      responseTopics: ["replies/#"],
      status: { topic: "svc/status" },
      dmPolicy: "open",
      allowFrom: ["*"],
      groups: { "group:kitchen": {} },
      historyLimit: 0,
    },
  },
});

async function svc(...args: string[]): Promise<string> {
  const done = await command(home, args, { SVC_GATEWAY_PORT: String(gateway.port) });
  expect(done, done.stderr).toMatchObject({ code: 0 });
  return done.stdout;
}

async function account() {
  const { value } = await commandJson(home, ["channels", "status"], { SVC_GATEWAY_PORT: String(gateway.port) });
  return (value as { channelAccounts: { mqtt: Array<{ lifecycle: string; lastError?: string }> } }).channelAccounts.mqtt[0];
}

beforeAll(async () => {
  broker = await startMosquitto();
  people = await connectMqttUser({ port: broker.port, topics: ["svc/+/out", "rooms/+/out", "replies/#", "svc/status"] });
  home = await configured(await freshHome(), config(broker.port));
  home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
  await writeFile(join(home.stateDir, "echo.ts"), echoModel);
  gateway = await gatewayIn(home);
  await people.sees("svc/status", "online");
});
afterAll(async () => {
  await people?.close();
  await stopAll();
  await broker?.stop();
});

describe("somebody at an MQTT broker", () => {
  test("is answered where the message asks for it, and in a group when the agent is named", async () => {
    const correlationData = Buffer.from("request 7");
    await people.publish("svc/ada/in", "hello", { properties: { responseTopic: "replies/ada", correlationData } });
    await people.publish("rooms/kitchen/bob/in", "not for you");
    await people.publish("rooms/kitchen/bob/in", "Agent: hello from the kitchen");

    const answer = await people.sees("replies/ada", "You said: hello");
    expect(answer.properties?.correlationData).toEqual(correlationData);
    await people.sees("rooms/kitchen/out", "You said: Agent: hello from the kitchen");
    expect(people.texts("rooms/kitchen/out")).toHaveLength(1);
    expect(await svc("channels", "status", "--probe")).toMatch(/mqtt\s+default\s+ready\s+Agent.*ok \(\d+ ms\)/);
  });

  test("has each message answered by one turn, whenever the gateway is killed", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `person-${i}`);
    const answeredBy = (name: string) =>
      people.messages.filter(({ topic, payload }) => topic === `svc/${name}/out` && payload.toString() === `You said: I am ${name}`);
    const waiting = [...names];
    const say = async (count: number) => {
      for (const name of waiting.splice(0, count)) await people.publish(`svc/${name}/in`, `I am ${name}`);
    };
    // Some are said to a gateway at work, some while there is none. A third kill could be the third of one run, which is given up then.
    for (const [atWork, away] of [
      [10, 5],
      [12, 3],
    ] as const) {
      await say(atWork);
      const dying = gateway;
      await eventually(() => names.some((name) => !waiting.includes(name) && answeredBy(name).length > 0));
      await dying.kill("SIGKILL");
      await say(away);
      gateway = await gatewayIn(home);
    }
    await say(waiting.length);

    for (const name of names)
      await eventually(() => answeredBy(name).length > 0, 60_000).catch(() => expect.fail(`${name} was not answered`));
    // An answer that was being sent at a kill may be there twice, under one id; a second turn would have another.
    for (const name of names) {
      const ids = new Set(answeredBy(name).map(({ properties }) => properties?.userProperties?.[ID_PROPERTY]));
      expect(ids.size, name).toBe(1);
    }
  });

  test("is answered after the broker was gone", async () => {
    await broker.shutDown();
    await eventually(async () => (await account())?.lifecycle === "recovering");
    await broker.restart();
    await eventually(async () => (await account())?.lifecycle === "ready", 60_000);
    people = await connectMqttUser({ port: broker.port, topics: ["svc/+/out"] });
    await people.publish("svc/ada/in", "still there?");
    await people.sees("svc/ada/out", "You said: still there?");
  });
});
