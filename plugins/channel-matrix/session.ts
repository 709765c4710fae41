import { AccountRefusedError, type ChannelRun, keepConnected, messageOf, type PluginKv, sleep } from "svc/sdk";
import type { MatrixAccount } from "./accounts.ts";
import { Directory } from "./directory.ts";
import { recordOf, textOf } from "./events.ts";
import { createHomeserver, type Fetch, type Homeserver, MatrixFault, pathOf } from "./homeserver.ts";
import { type InviteMemory, Invites, newInviteMemory } from "./invites.ts";
import type { MatrixLibrary } from "./library.ts";
import { SessionState } from "./session-state.ts";
import { follow, LostPlaceError, survey } from "./sync.ts";
import type { MatrixTiming } from "./timing.ts";

export interface Connection {
  library: MatrixLibrary;
  fetch: Fetch;
  timing: MatrixTiming;
}

/** A session that messages can be sent by. */
export interface Session {
  server: Homeserver;
  directory: Directory;
}

interface SessionContext extends Connection {
  kv: Pick<PluginKv, "get" | "set">;
  random(): number;
  /** Called with the session while there is one. */
  hold(session: Session | undefined): void;
}

/** Runs an account until it is stopped. Refused credentials, and a session that is over, end it. */
export async function runAccount(run: ChannelRun<MatrixAccount>, context: SessionContext): Promise<void> {
  const state = new SessionState(context.kv, run.account);
  const directory = new Directory();
  /** Kept over links, and never stored. */
  const memory: Memory = { server: undefined, isSurveyed: false, invites: newInviteMemory() };
  return keepConnected(run, {
    firstWaitMs: context.timing.reconnectMs,
    random: context.random,
    connect: async (onReady) => {
      try {
        return await connect(run, { ...context, state, directory, memory }, onReady);
      } catch (error) {
        await waitAsAsked(error, run);
        throw faultOfAccount(error, run.account, memory);
      } finally {
        context.hold(undefined);
      }
    },
  });
}

/** Waits before the next link as long as the homeserver asks. */
async function waitAsAsked(error: unknown, { signal, state }: ChannelRun<MatrixAccount>): Promise<void> {
  if (!(error instanceof MatrixFault) || error.retryAfterMs === undefined) return;
  state({ lifecycle: "recovering", connected: false, lastError: error.message });
  await sleep(error.retryAfterMs, signal).catch(() => undefined);
}

interface Memory {
  server: Homeserver | undefined;
  isSurveyed: boolean;
  invites: InviteMemory;
}

async function connect(
  run: ChannelRun<MatrixAccount>,
  context: SessionContext & { state: SessionState; directory: Directory; memory: Memory },
  onReady: () => void,
): Promise<undefined> {
  const { state, directory, timing, memory } = context;
  const options = { limitMs: timing.callMs, signal: run.signal };
  const server = memory.server ?? (await openSession(run.account, context, { signal: run.signal, deviceId: () => state.deviceId() }));
  memory.server = server;
  const { userId } = await whoAmI(server, options);
  checkUser(userId, run.account);
  const self = { userId, name: await displayName(server, userId, options) };
  run.state({ self: { id: userId, ...(self.name === undefined ? {} : { name: self.name }) } });
  const receiving = { run, server, directory, self, timing };
  const invites = new Invites(receiving, memory.invites);
  const following = { ...receiving, state, invites };
  let since = await state.since();
  if (!memory.isSurveyed) {
    const present = await survey(following);
    if (since === undefined) await state.reached(present);
    since ??= present;
    memory.isSurveyed = true;
  }
  context.hold({ server, directory });
  onReady();
  run.alive?.();
  try {
    return await follow(following, since as string);
  } catch (error) {
    if (error instanceof LostPlaceError) {
      run.logger.warn("the homeserver does not know the place up to which messages were read: it begins anew from now on", {
        reason: messageOf(error),
      });
      await state.forget();
      memory.isSurveyed = false;
    }
    throw error;
  } finally {
    if (!invites.isIdle) memory.isSurveyed = false;
  }
}

/** A session: that of the access token, or one of a login. */
export async function openSession(
  account: MatrixAccount,
  { library, fetch, timing }: Connection,
  { signal, deviceId }: { signal: AbortSignal; deviceId?: () => Promise<string> },
): Promise<Homeserver> {
  const { credentials, userId, deviceName } = account;
  const options = { limitMs: timing.callMs, signal };
  const open = (accessToken?: string) => createHomeserver({ library, fetch, account, accessToken });
  const { versions } = recordOf(await open().call("GET", "/versions", { isAuthed: false, ...options }));
  if (!Array.isArray(versions))
    throw new MatrixFault("", "the address is not that of a Matrix homeserver: no versions there", { status: 200 });
  if ("accessToken" in credentials) return open(credentials.accessToken);
  const device = deviceId ? { device_id: await deviceId() } : {};
  const body = {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: userId },
    password: credentials.password,
    initial_device_display_name: deviceName,
    ...device,
  };
  const { access_token: token } = recordOf(await open().call("POST", "/v3/login", { body, isAuthed: false, ...options }));
  if (typeof token !== "string" || token === "") throw new MatrixFault("", "the homeserver gave no token after the login", { status: 200 });
  return open(token);
}

/** Asks whose session it is. */
export async function whoAmI(server: Homeserver, options: { limitMs: number; signal: AbortSignal }): Promise<{ userId: string }> {
  return { userId: textOf(recordOf(await server.call("GET", "/v3/account/whoami", options)).user_id, 255) ?? "" };
}

/** @throws {AccountRefusedError} for the session of somebody else */
export function checkUser(userId: string, account: MatrixAccount): void {
  if (userId === account.userId) return;
  throw new AccountRefusedError(
    `the access token is of ${userId || "nobody"}, and userId says ${account.userId}: set the one that belongs to the other`,
  );
}

async function displayName(
  server: Homeserver,
  userId: string,
  options: { limitMs: number; signal: AbortSignal },
): Promise<string | undefined> {
  const profile = await server.call("GET", pathOf`/v3/profile/${userId}/displayname`, options).catch((error: unknown) => {
    // A user without a name has no profile on some servers.
    if (error instanceof MatrixFault && (error.code === "M_NOT_FOUND" || error.code === "M_FORBIDDEN")) return {};
    throw error;
  });
  return textOf(recordOf(profile).displayname, 100) || undefined;
}

/** Tells refused credentials, which end the account, from what passes. */
function faultOfAccount(error: unknown, { credentials }: MatrixAccount, memory: Memory): Error {
  if (!(error instanceof MatrixFault)) return error instanceof Error ? error : new Error(messageOf(error));
  const { code, isSoftLogout } = error;
  const isLogin = "password" in credentials;
  if (code === "M_UNKNOWN_TOKEN" || code === "M_MISSING_TOKEN") {
    const isKnown = memory.server !== undefined;
    memory.server = undefined;
    // The session has run out and its device is still there: the password makes the next one.
    if (isLogin && isSoftLogout && isKnown) return error;
    if (isLogin)
      return new AccountRefusedError(
        "the session was ended, and its device removed: svc channels start matrix logs in again (M_UNKNOWN_TOKEN)",
      );
    const why = isSoftLogout ? "has run out" : "is not known to the homeserver, or its session was ended";
    return new AccountRefusedError(`the access token ${why}: set a new one (M_UNKNOWN_TOKEN)`);
  }
  if (code === "M_USER_DEACTIVATED") return new AccountRefusedError(`the account is deactivated: ${error.message}`);
  if (isLogin && memory.server === undefined && code === "M_FORBIDDEN")
    return new AccountRefusedError(`the homeserver refuses user or password: ${error.message}`);
  return error;
}
