import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { AccountRefusedError } from "svc/sdk";
import { faultOfLogin, wordsOf } from "./refusals.ts";
import { NS, type XmppStream } from "./stream.ts";
import { textOf, xml } from "./xml.ts";

const derive = promisify(pbkdf2);

/** Hash functions of SCRAM (RFC 5802, RFC 7677), the strongest first. */
const hashes: Readonly<Record<string, { hash: string; bytes: number }>> = {
  "SCRAM-SHA-512": { hash: "sha512", bytes: 64 },
  "SCRAM-SHA-256": { hash: "sha256", bytes: 32 },
  "SCRAM-SHA-1": { hash: "sha1", bytes: 20 },
};
/** Below the first a recorded login could be guessed; above the second a server keeps the machine busy. */
const [MIN_ITERATIONS, MAX_ITERATIONS] = [4_096, 1_000_000];
const MAX_CHALLENGE_CHARS = 4_096;

interface Credentials {
  username: string;
  password: string;
}

/** Mechanism of choice among those of a server. @throws {AccountRefusedError} when there is none that may be used on this link */
export function chooseMechanism(offered: readonly string[], isEncrypted: boolean): string {
  const scram = Object.keys(hashes).find((name) => offered.includes(name));
  if (scram !== undefined) return scram;
  const names = wordsOf(offered.join(" ")) || "no mechanism";
  if (!offered.includes("PLAIN")) throw new AccountRefusedError(`the server offers ${names}; this channel has SCRAM and PLAIN`);
  if (!isEncrypted) throw new AccountRefusedError("the server wants the password as it is, and the link is not encrypted; set tls.enabled");
  return "PLAIN";
}

/**
 * Proves to the server that the account knows its password, and with SCRAM the other way round.
 * @throws {AccountRefusedError} for wrong credentials; {Error} for what may pass
 */
export async function authenticate(stream: XmppStream, mechanism: string, credentials: Credentials): Promise<void> {
  if (mechanism === "PLAIN") {
    const text = Buffer.from(`\0${credentials.username}\0${credentials.password}`).toString("base64");
    await ask(stream, "auth", mechanism, text, "success");
    return;
  }
  const scram = new Scram(mechanism, credentials);
  const challenge = await ask(stream, "auth", mechanism, encode(scram.first), "challenge");
  const final = await ask(stream, "response", undefined, encode(await scram.final(decode(challenge))), "success", "challenge");
  scram.check(decode(final.text));
  // Some servers send their proof as a challenge, which has an empty answer.
  if (final.name === "challenge") await ask(stream, "response", undefined, "", "success");
}

interface Answer {
  name: string;
  text: string;
}

async function ask(stream: XmppStream, name: string, mechanism: string | undefined, text: string, ...wanted: string[]): Promise<Answer> {
  stream.send(xml(name, { xmlns: NS.sasl, mechanism }, text));
  const element = await stream.next();
  if (element.ns !== NS.sasl) throw new Error("the server interrupts the login");
  if (element.name === "failure") throw faultOfLogin(element);
  if (!wanted.includes(element.name)) throw new Error(`the server answers the login with ${wordsOf(element.name)}`);
  return { name: element.name, text: textOf(element) };
}

/** One run of SCRAM, without channel binding. */
export class Scram {
  readonly #hash: string;
  readonly #bytes: number;
  readonly #password: string;
  readonly #bare: string;
  readonly #nonce: string;
  #signature: Buffer | undefined;

  constructor(mechanism: string, { username, password }: Credentials, nonce = randomBytes(18).toString("base64")) {
    const { hash, bytes } = hashes[mechanism] ?? { hash: "sha1", bytes: 20 };
    this.#hash = hash;
    this.#bytes = bytes;
    this.#password = password.normalize("NFKC");
    this.#nonce = nonce;
    this.#bare = `n=${username.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${nonce}`;
  }

  get first(): string {
    return `n,,${this.#bare}`;
  }

  /** Answers the server's challenge. @throws {Error} for a challenge that is none, or asks for too little or too much work */
  async final(challenge: string): Promise<string> {
    const fields = fieldsOf(challenge);
    const [nonce, salt, iterations] = [fields.get("r") ?? "", Buffer.from(fields.get("s") ?? "", "base64"), Number(fields.get("i"))];
    if (!nonce.startsWith(this.#nonce) || nonce.length === this.#nonce.length || salt.length === 0)
      throw new Error("the server's challenge is not one of SCRAM");
    if (!(Number.isInteger(iterations) && iterations >= MIN_ITERATIONS && iterations <= MAX_ITERATIONS)) {
      throw new Error(
        `the server asks for ${wordsOf(fields.get("i") ?? "no")} iterations; expected ${MIN_ITERATIONS} to ${MAX_ITERATIONS}`,
      );
    }
    const salted = await derive(this.#password, salt, iterations, this.#bytes, this.#hash);
    const clientKey = this.#hmac(salted, "Client Key");
    const withoutProof = `c=biws,r=${nonce}`;
    const message = `${this.#bare},${challenge},${withoutProof}`;
    const stored = createHash(this.#hash).update(clientKey).digest();
    const signature = this.#hmac(stored, message);
    this.#signature = this.#hmac(this.#hmac(salted, "Server Key"), message);
    const proof = clientKey.map((byte, i) => byte ^ (signature[i] as number));
    return `${withoutProof},p=${Buffer.from(proof).toString("base64")}`;
  }

  /** @throws {Error} unless the server has shown that it knows the password, too */
  check(final: string): void {
    const shown = Buffer.from(fieldsOf(final).get("v") ?? "", "base64");
    const expected = this.#signature;
    if (!expected || shown.length !== expected.length || !timingSafeEqual(shown, expected)) {
      throw new Error("the server has not shown that it knows the account's password: it may not be the one it says it is");
    }
  }

  #hmac(key: Buffer, text: string): Buffer {
    return createHmac(this.#hash, key).update(text).digest();
  }
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(
    text
      .slice(0, MAX_CHALLENGE_CHARS)
      .split(",")
      .map((field): [string, string] => [field.slice(0, 1), field.slice(2)]),
  );
}

const encode = (text: string) => Buffer.from(text).toString("base64");

function decode(answer: Answer | string): string {
  const text = typeof answer === "string" ? answer : answer.text;
  return Buffer.from(text, "base64").toString();
}
