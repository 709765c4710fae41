import { Agent, request } from "node:http";

/** One GET over a keep-alive agent, with `json` one POST; resolves with status and body. */
export function get(url, { agent, headers = {}, json } = {}) {
  const length = json === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(json) };
  return new Promise((resolve, reject) => {
    const req = request(url, { agent, headers: { ...headers, ...length }, method: json === undefined ? "GET" : "POST" }, (res) => {
      const parts = [];
      res.on("data", (part) => parts.push(part));
      res.on("end", () => resolve({ status: res.statusCode, body: Buffer.concat(parts).toString() }));
      res.on("error", reject);
    });
    req.on("error", reject);
    req.end(json);
  });
}

/** Keeps `inFlight` requests open until `total` were answered with `expected`. @returns milliseconds of each, and requests a second */
export async function loadHttp(url, { total, inFlight, headers, json, expected }) {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  let started = 0;
  const times = [];
  const begun = performance.now();
  const lane = async () => {
    while (started < total) {
      started += 1;
      const sent = performance.now();
      const { status, body } = await get(url, { agent, headers, json });
      times.push(performance.now() - sent);
      if (status !== 200 || (expected !== undefined && body !== expected)) throw new Error(`${url}: ${status} ${body.slice(0, 200)}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, lane));
    return { times, perSecond: (total * 1_000) / (performance.now() - begun) };
  } finally {
    agent.destroy();
  }
}
