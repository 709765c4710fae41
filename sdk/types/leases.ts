/**
 * Service `leases@1`: exclusive roles, each with a token that grows with every holder. Work that must have one owner acquires a lease, and each write that rests on
 * it names the lease as its `fence`.
 */
export interface Leases {
  /**
   * Acquires the lease of a name, 1–200 characters. The embedded store belongs to one gateway and always grants: a holder inside the process loses it. A lease
   * is renewed until it is released, lost, or the process ends.
   * @param options.owner id that claims name as their `leaseBoot`, and runs as their `bootId`: such rows count as owned as long as the lease is held
   * @throws {SvcError} `store-invalid-op`, `storage-busy`, `storage-unavailable`
   */
  acquire(name: string, options?: { owner?: string }): Promise<Lease>;
}

/** A lease that is held. */
export interface Lease {
  readonly name: string;
  /** Fencing token: greater than that of each holder before. */
  readonly token: number;
  /** Fires when another one has taken the lease, or when it could not be renewed in time. Writes with its fence are refused from then on, at the latest. */
  readonly lost: AbortSignal;
  /** Gives it back; does nothing when it is lost already. */
  release(): Promise<void>;
}
