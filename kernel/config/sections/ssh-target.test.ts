import { expect, test } from "vitest";
import { parseSshTarget } from "./ssh-target.ts";

test.each([
  ["gateway.example", { destination: "gateway.example" }],
  ["me@gateway.example", { destination: "me@gateway.example" }],
  ["_svc.user@10.0.0.7:2222", { destination: "_svc.user@10.0.0.7", port: 2222 }],
  ["me@[2001:db8::1]:22", { destination: "me@2001:db8::1", port: 22 }],
  ["work-box", { destination: "work-box" }],
])("%s is the other end of a connection", (text, target) => {
  expect(parseSshTarget(text)).toEqual(target);
});

test("what ssh could take for an option, and what a shell would read, is none", () => {
  const bad = [
    "-oProxyCommand=touch /tmp/x",
    "me@-host",
    "-l",
    "@host",
    "me@",
    "host:0",
    "host:65536",
    "a b",
    "a;b",
    "$(id)",
    "a\nb",
    "me@ho@st",
    "",
  ];
  expect(bad.filter((text) => parseSshTarget(text) !== undefined)).toEqual([]);
});
