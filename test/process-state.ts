import childProcess from "node:child_process";
import cluster from "node:cluster";
import crypto from "node:crypto";
import dns from "node:dns";
import { EventEmitter } from "node:events";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import os from "node:os";
import timers from "node:timers";
import { vi } from "vitest";

/** Objects of the runtime whose members anything in the process could replace, by the name that a finding gives them. */
const shared: Readonly<Record<string, object>> = {
  ...{ fs, "fs.promises": fs.promises, net, dns, http, https, os, timers, crypto, cluster, child_process: childProcess },
  ...{ Object, Array, String, Number, Date, Math, JSON, RegExp, Promise, Error, Intl, Buffer, performance, console },
  ...{ "process.stdout": process.stdout, "process.stderr": process.stderr },
  ...prototypes({ Object, Array, String, Number, Date, RegExp, Promise, Error, Map, Set, Function, Buffer, EventEmitter }),
  ...prototypes({
    Socket: net.Socket,
    Server: net.Server,
    ClientRequest: http.ClientRequest,
    Headers,
    Request,
    Response,
    URL,
    AbortSignal,
  }),
};

/**
 * State that packages set at their first import, whichever file does it: zod its registry, jiti the stack traces of translated modules, h3's server its web
 * classes, OpenAI's client its providers.
 */
const libraries = [
  "global: __zod_globalConfig",
  "global: __zod_globalRegistry",
  "global: Symbol(srvx.nativeRequest)",
  "global: Symbol(srvx.nativeResponse)",
  "global: Symbol(openai.node.providerDefinitions.v1)",
  "Error: prepareStackTrace",
];

/**
 * Remembers what the test files of one process share: its folder, environment, signal and error listeners, globals, clock, and the functions of the
 * runtime. Returns a function that names whatever differs by then.
 */
export function watchProcessState(): () => string[] {
  const before = processState();
  return () => {
    const now = processState();
    const names = [...new Set([...before.keys(), ...now.keys()])].filter((name) => !libraries.includes(name));
    return names.filter((name) => !Object.is(before.get(name), now.get(name)));
  };
}

/** Every part of the state, by name. Values are compared by identity. */
function processState(): Map<string, unknown> {
  const state = new Map<string, unknown>([
    ["working folder", process.cwd()],
    ["umask", process.umask()],
    ["exit code", process.exitCode],
    ["fake timers", vi.isFakeTimers()],
  ]);
  for (const [name, value] of Object.entries(process.env)) state.set(`environment: ${name}`, value);
  for (const event of process.eventNames()) {
    for (const [i, listener] of process.rawListeners(event).entries()) state.set(`process listener: ${String(event)} ${i + 1}`, listener);
  }
  for (const key of Reflect.ownKeys(globalThis)) {
    if (!isOfVitest(key)) state.set(`global: ${String(key)}`, Reflect.get(globalThis, key));
  }
  for (const key of Reflect.ownKeys(process)) {
    const value = Object.getOwnPropertyDescriptor(process, key)?.value;
    if (typeof value === "function") state.set(`process: ${String(key)}`, value);
  }
  for (const [owner, object] of Object.entries(shared)) {
    for (const key of Reflect.ownKeys(object)) {
      const { value, get } = Object.getOwnPropertyDescriptor(object, key) ?? {};
      const member = value ?? get;
      if (typeof member === "function") state.set(`${owner}: ${String(key)}`, member);
    }
  }
  return state;
}

/** Vitest keeps its own state in globals and replaces the console for each file. */
function isOfVitest(key: string | symbol): boolean {
  return key === "console" || /vitest|^\$\$jest|matchers-object|expect/i.test(String(key));
}

function prototypes(types: Readonly<Record<string, { prototype: object }>>): Record<string, object> {
  return Object.fromEntries(Object.entries(types).map(([name, { prototype }]) => [`${name}.prototype`, prototype]));
}
