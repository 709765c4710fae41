import type { Xml } from "./xml.ts";

/** Stanzas that a server may leave without an acknowledgement. */
const MAX_UNACKED = 1_000;
const MODULO = 2 ** 32;

interface Sent {
  stanza: Xml;
  onAck: (() => void) | undefined;
}

/**
 * Counts the stanzas of a session in both directions (XEP-0198). One that came in counts as handled when it is the host's, and all before it are: until then the
 * server keeps it.
 */
export class Acknowledgements {
  readonly #pending = new Set<number>();
  readonly #unacked: Sent[] = [];
  /** Of those the ones that are not sent again. */
  readonly #gone = new WeakSet<Xml>();
  #received = 0;
  #acked = 0;

  /** Counts a stanza of the server. @returns what says that it is handled */
  receive(): () => void {
    this.#received += 1;
    const number = this.#received;
    this.#pending.add(number);
    return () => void this.#pending.delete(number);
  }

  /** Stanzas of the server that are handled, without a gap. */
  get handled(): number {
    const [first] = this.#pending;
    return (first === undefined ? this.#received : first - 1) % MODULO;
  }

  /** Goes on behind the stanzas that the server was told are handled: it sends the others again. */
  rewind(told: number): void {
    this.#received = told;
    this.#pending.clear();
  }

  /** Counts a stanza that is sent. @throws {Error} when the server acknowledges nothing any more */
  send(stanza: Xml, onAck?: () => void): void {
    if (this.#unacked.length >= MAX_UNACKED) throw new Error("the server acknowledges nothing any more");
    this.#unacked.push({ stanza, onAck });
  }

  /** Stanzas that wait for an acknowledgement. */
  get waiting(): number {
    return this.#unacked.length;
  }

  /** Takes the server's count of what it has handled. @throws {Error} for more than was sent */
  ack(count: number): void {
    const more = (count - this.#acked + MODULO) % MODULO;
    if (more > this.#unacked.length) throw new Error("the server acknowledges more than it was sent");
    this.#acked = count;
    for (const { onAck } of this.#unacked.splice(0, more)) onAck?.();
  }

  /** Takes out what is not sent again on a new link: somebody was told that its fate is unknown. */
  drop(stanza: Xml): void {
    const at = this.#unacked.findIndex((sent) => sent.stanza === stanza);
    if (at < 0) return;
    this.#unacked[at] = { stanza, onAck: undefined };
    this.#gone.add(stanza);
  }

  /** Stanzas to send again on the link that goes on with the session; from here on they count anew. */
  resend(): Xml[] {
    const kept = this.#unacked.filter(({ stanza }) => !this.#gone.has(stanza));
    this.#unacked.splice(0, this.#unacked.length, ...kept);
    return kept.map(({ stanza }) => stanza);
  }
}
