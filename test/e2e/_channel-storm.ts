import { connectUser, type IrcUser } from "../servers/irc-user.ts";
import { startNgircd } from "../servers/ngircd.ts";
import { startTcpRelay, type TcpRelay } from "../servers/tcp-relay.ts";

/** Somebody who writes to the agent on a platform, and reads what it answers. */
export interface StormUser {
  name: string;
  say(text: string): Promise<void>;
  /** Answers of the agent, oldest first. */
  heard(): string[];
  /** Lines that the platform said it could not give to anybody. */
  refused(): number;
  close(): Promise<void>;
}

/** A platform as the storm drives it: a real server behind a relay that fails as networks do. A further platform is another one of these. */
export interface StormPlatform {
  id: string;
  relay: TcpRelay;
  /** Key of an account that holds its credential, and what it has to be. */
  credential: { path: string; good: string };
  /** Difference of a second account from the first one. */
  second: object;
  /** Content of `channels.<id>`: everybody may write. */
  config(changes?: object): object;
  user(name: string): Promise<StormUser>;
  /** Kills the server, and starts it again on the same port; users have to come back. */
  killServer(): Promise<void>;
  restartServer(): Promise<void>;
  close(): Promise<void>;
}

export async function ircStorm(): Promise<StormPlatform> {
  const password = "server-password-1";
  const server = await startNgircd({ password });
  const relay = await startTcpRelay(server.port);
  return {
    id: "irc",
    relay,
    credential: { path: "password", good: password },
    second: { nick: "agent2" },
    config: (changes = {}) => ({
      host: "127.0.0.1",
      port: relay.port,
      tls: { enabled: false },
      nick: "agent",
      password,
      burstLines: 100,
      lineIntervalMs: 0,
      dmPolicy: "open",
      allowFrom: ["*"],
      ...changes,
    }),
    async user(name) {
      const user: IrcUser = await connectUser({ port: server.port, nick: name, password });
      return {
        name,
        say: (text) => user.say("agent", text),
        heard: () => user.lines.flatMap((line) => (/^:agent\S*!\S+ PRIVMSG /.test(line) ? [line.slice(line.indexOf(" :") + 2)] : [])),
        refused: () => user.lines.filter((line) => / 401 \S+ agent /.test(line)).length,
        close: () => user.close(),
      };
    },
    killServer: () => server.kill(),
    restartServer: () => server.restart(),
    async close() {
      await relay.close();
      await server.stop();
    },
  };
}
