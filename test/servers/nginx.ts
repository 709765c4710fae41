import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../sdk/testing/eventually.ts";

/** A real nginx in front of a gateway. */
export interface Nginx {
  port: number;
  stop(): Promise<void>;
}

/** Settings of its one server block. */
export interface NginxOptions {
  /** Where it listens; a free port. */
  port: number;
  /** Port of the gateway behind it. */
  upstream: number;
  /** Address its connections to the gateway come from. */
  from?: string;
  /** Directives of the location, such as `proxy_set_header X-Forwarded-For …;`. */
  location?: string;
  /** Users it asks for by basic auth, with their passwords. */
  users?: Record<string, string>;
}

/**
 * Starts nginx in the foreground with a folder of its own, and waits until it listens.
 * @throws {Error} when it is not installed, with what it printed when it does not start
 */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), "svc-nginx-"));
  await writeFile(join(folder, "nginx.conf"), configOf(options, folder));
  const users = Object.entries(options.users ?? {}).map(([name, password]) => `${name}:{PLAIN}${password}\n`);
  await writeFile(join(folder, "users"), users.join(""));
  const child = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  let missing: Error | undefined;
  child.once("error", (error) => {
    missing = new Error(`nginx does not run here (${error.message}); its Debian package stands in .ci/packages`);
  });
  const stop = async () => {
    if (!missing && child.exitCode === null && child.signalCode === null) {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(() => {
      if (missing) throw missing;
      if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}: ${printed}`);
      return listens(options.port);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { port: options.port, stop };
}

function configOf({ port, upstream, from, location = "", users }: NginxOptions, folder: string): string {
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  access_log off;
  ${temp.join(" ")}
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  server {
    listen 127.0.0.1:${port};
    location / {
      ${users ? `auth_basic svc; auth_basic_user_file ${folder}/users;` : ""}
      proxy_pass http://127.0.0.1:${upstream};
      proxy_http_version 1.1;
      ${from ? `proxy_bind ${from};` : ""}
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      ${location}
    }
  }
}
`;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
