import WebSocket from "ws";

const defaultScopes = ["operator.read", "operator.write", "operator.admin"];

/**
 * Connects and shakes hands by bare frames, as a third party would.
 * @param auth sent as it is; the baseline server takes anything
 */
export function connect(url, { token = "", scopes = defaultScopes } = {}) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    const waiting = new Map();
    let nextId = 0;
    const connection = {
      socket,
      hello: undefined,
      request(method, params = {}) {
        nextId += 1;
        const id = String(nextId);
        return new Promise((done, fail) => {
          waiting.set(id, { done, fail });
          socket.send(`{"type":"req","id":"${id}","method":"${method}","params":${JSON.stringify(params)}}`);
        });
      },
      close() {
        return new Promise((done) => {
          if (socket.readyState === WebSocket.CLOSED) return done();
          socket.once("close", done);
          socket.close();
        });
      },
    };
    socket.on("error", reject);
    socket.on("close", (code, reason) => {
      const error = new Error(`closed with ${code} ${reason}`);
      reject(error);
      for (const { fail } of waiting.values()) fail(error);
    });
    socket.on("message", async (data) => {
      const frame = JSON.parse(data);
      if (frame.type === "event") {
        if (frame.event !== "connect.challenge") return;
        try {
          connection.hello = await connection.request("connect", connectParams(token, scopes));
          resolve(connection);
        } catch (error) {
          reject(error);
        }
        return;
      }
      const entry = waiting.get(frame.id);
      waiting.delete(frame.id);
      if (frame.ok) entry?.done(frame.payload);
      else entry?.fail(Object.assign(new Error(frame.error?.message), { wire: frame.error }));
    });
  });
}

function connectParams(token, scopes) {
  return {
    minProtocol: 4,
    maxProtocol: 4,
    client: { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" },
    scopes,
    auth: { token },
  };
}

/** Keeps `inFlight` requests open until `total` were answered; every answer is checked. */
export async function pipeline(connection, { method, params = {}, total, inFlight, check }) {
  let started = 0;
  const lane = async () => {
    while (started < total) {
      started += 1;
      check(await connection.request(method, params));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}
