import { describe, expect, it } from "vitest";
import { type AnswerQuestion, answerAdvice, type StartQuestion, startAdvice } from "./start-advice.ts";

const good = { exists: true, valid: true, config: { gateway: { mode: "local" } } };
const question: StartQuestion = { paths: { profile: "" }, config: good, owner: undefined };
const here = { host: "127.0.0.1", port: 18_789, portSource: "default" } as const;

describe("where no gateway answers, the next step is one that is not refused:", () => {
  it.each<[string, Partial<StartQuestion>, string]>([
    ["with a config", {}, "start it with: svc gateway"],
    ["with a profile", { paths: { profile: "work" } }, "start it with: svc --profile work gateway"],
    ["without a config", { config: { exists: false, valid: true, config: {} } }, "set it up with: svc setup"],
    [
      "without a config in a profile",
      { paths: { profile: "work" }, config: { exists: false, valid: true, config: {} } },
      "set it up with: svc --profile work setup",
    ],
    [
      "without a config that there was",
      { config: { exists: false, valid: true, config: {} }, hasLastGood: true },
      "its config is gone; put the last one that worked back with: svc doctor --fix --restore-last-good",
    ],
    ["with a broken config", { config: { exists: true, valid: false, config: {} } }, "its config is not valid: svc config validate"],
    ["without a mode", { config: { ...good, config: {} } }, "allow it with: svc config set gateway.mode local"],
    [
      "in mode remote",
      { config: { ...good, config: { gateway: { mode: "remote" } } } },
      "name the gateway elsewhere with: svc config set gateway.remote.url wss://…, or run one here after: svc config set gateway.mode local",
    ],
    ["of another machine", { target: { ...here, host: "gw.example" } }, "check the address, and that a gateway runs there"],
    [
      "in mode remote with an address",
      { config: { ...good, config: { gateway: { mode: "remote", remote: { url: "wss://gw.example" } } } } },
      "check the address, and that a gateway runs there",
    ],
    ["of gateway.remote", { target: { ...here, portSource: "remote" } }, "check the address, and that a gateway runs there"],
    ["where nothing runs", { target: here }, "start it with: svc gateway"],
    [
      "beside the port of the one that runs",
      { target: { ...here, portSource: "env" }, owner: { port: 4711 } },
      "the gateway of this profile listens on port 4711, not on that of SVC_GATEWAY_PORT",
    ],
  ])("%s", (_, change, advice) => expect(startAdvice({ ...question, ...change })).toBe(advice));
});

describe("where something else answers than the gateway of this profile", () => {
  const asked: AnswerQuestion = { paths: { profile: "" }, config: { exists: true }, owner: undefined, target: here, holder: undefined };
  it.each<[string, Partial<AnswerQuestion>, string | undefined]>([
    [
      "a program is named",
      { holder: { pid: 7, command: "nginx" } },
      "port 18789 is held by nginx (pid 7), not by the gateway of this profile; svc doctor says what to do",
    ],
    [
      "one that the system hides is not",
      {},
      "port 18789 is held by another program, not by the gateway of this profile; svc doctor says what to do",
    ],
    [
      "the lost config is the reason",
      { config: { exists: false }, hasLastGood: true, owner: {} },
      "its config is gone; put the last one that worked back with: svc doctor --fix --restore-last-good",
    ],
    ["the own gateway has no reason", { owner: { port: 18_789 } }, undefined],
    ["an address that was named by hand has none", { target: { ...here, portSource: "flag" } }, undefined],
    ["another machine has none", { target: { ...here, host: "gw.example" } }, undefined],
  ])("%s", (_, change, advice) => expect(answerAdvice({ ...asked, ...change })).toBe(advice));
});
