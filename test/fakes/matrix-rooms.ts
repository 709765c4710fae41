/** Rooms of the fake homeserver, and the one stream that everything in them is a part of. */

export interface FakeEvent {
  event_id: string;
  type: string;
  sender: string;
  content: Record<string, unknown>;
  origin_server_ts: number;
  state_key?: string;
  unsigned?: Record<string, unknown>;
  /** Place in the stream. */
  at: number;
}

export interface FakeRoom {
  id: string;
  events: FakeEvent[];
}

interface Filter {
  room?: { timeline?: { limit?: number; types?: string[] }; state?: { types?: string[] } };
}

export class Rooms {
  readonly all = new Map<string, FakeRoom>();
  /** Account data `m.direct` by user, with its place in the stream. */
  readonly direct = new Map<string, { content: Record<string, unknown>; at: number }>();
  /** Place of the newest event. */
  now = 100;
  readonly #wake = new Set<() => void>();
  #clock = 1_700_000_000_000;

  create(id: string): FakeRoom {
    const room = { id, events: [] };
    this.all.set(id, room);
    return room;
  }

  add(
    room: FakeRoom,
    event: { type: string; sender: string; content: Record<string, unknown>; state_key?: string; event_id?: string },
  ): FakeEvent {
    this.now += 1;
    this.#clock += 1_000;
    const before = event.state_key === undefined ? undefined : this.stateOf(room, event.type, event.state_key)?.content;
    const added: FakeEvent = {
      event_id: `$event${this.now}_${room.id.length}`,
      origin_server_ts: this.#clock,
      ...event,
      unsigned: before ? { prev_content: before } : {},
      at: this.now,
    };
    room.events.push(added);
    this.wake();
    return added;
  }

  member(room: FakeRoom, sender: string, userId: string, membership: string, more: Record<string, unknown> = {}): FakeEvent {
    return this.add(room, { type: "m.room.member", sender, state_key: userId, content: { membership, ...more } });
  }

  setDirect(userId: string, content: Record<string, unknown>): void {
    this.now += 1;
    this.direct.set(userId, { content, at: this.now });
    this.wake();
  }

  /** Adds a room to a user's direct chats. */
  addDirect(userId: string, person: string, roomId: string): void {
    const { content = {} } = this.direct.get(userId) ?? {};
    this.setDirect(userId, { ...content, [person]: [...((content[person] as string[] | undefined) ?? []), roomId] });
  }

  stateOf(room: FakeRoom, type: string, key = ""): FakeEvent | undefined {
    return room.events.findLast((event) => event.type === type && event.state_key === key);
  }

  membership(room: FakeRoom | undefined, userId: string): string | undefined {
    return room && (this.stateOf(room, "m.room.member", userId)?.content.membership as string | undefined);
  }

  /** Waits for something new, but not for ever. */
  changed(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(late);
        this.#wake.delete(done);
        resolve();
      };
      const late = setTimeout(done, timeoutMs);
      signal.addEventListener("abort", done, { once: true });
      this.#wake.add(done);
    });
  }

  wake(): void {
    for (const wake of [...this.#wake]) wake();
  }

  /** Answer of `/sync` to a user about everything since a place; undefined when nothing is new. */
  changes(userId: string, since: number | undefined, filter: Filter): Record<string, unknown> | undefined {
    const [join, invite, leave]: Array<Record<string, unknown>> = [{}, {}, {}];
    for (const room of this.all.values()) {
      const own = this.stateOf(room, "m.room.member", userId);
      const isNew = (event: FakeEvent | undefined) => event !== undefined && event.at > (since ?? 0);
      if (own?.content.membership === "join" && (since === undefined || room.events.some(isNew))) {
        const change = this.#joined(room, userId, since, filter);
        if (change && join) join[room.id] = change;
      }
      if (own?.content.membership === "invite" && isNew(own) && invite)
        invite[room.id] = { invite_state: { events: this.#stripped(room, userId) } };
      if ((own?.content.membership === "leave" || own?.content.membership === "ban") && since !== undefined && isNew(own) && leave)
        leave[room.id] = { timeline: { events: [own], limited: false, prev_batch: `t${own.at - 1}` }, state: { events: [] } };
    }
    const direct = this.direct.get(userId);
    const data = direct && direct.at > (since ?? 0) ? [{ type: "m.direct", content: direct.content }] : [];
    const isEmpty = data.length === 0 && [join, invite, leave].every((rooms) => Object.keys(rooms ?? {}).length === 0);
    return isEmpty ? undefined : { account_data: { events: data }, rooms: { join, invite, leave } };
  }

  #joined(room: FakeRoom, userId: string, since: number | undefined, { room: filter }: Filter): object | undefined {
    const { limit = 10, types } = filter?.timeline ?? {};
    const entry = room.events.findLast(
      ({ type, state_key: key, content, unsigned }) =>
        type === "m.room.member" && key === userId && content.membership === "join" && membershipOf(unsigned?.prev_content) !== "join",
    );
    // Of a room that was entered since then, the timeline begins anywhere before.
    const isEntered = since === undefined || (entry?.at ?? 0) > since;
    const fresh = room.events.filter(({ at, type }) => (isEntered || at > (since ?? 0)) && (types === undefined || types.includes(type)));
    const timeline = fresh.slice(-limit);
    const first = timeline[0]?.at ?? this.now + 1;
    const wanted = filter?.state?.types;
    const senders = new Set(timeline.map(({ sender }) => sender));
    const latest = new Map<string, FakeEvent>();
    for (const event of room.events)
      if (event.state_key !== undefined && event.at < first) latest.set(`${event.type} ${event.state_key}`, event);
    const state = [...latest.values()].filter(
      ({ type, state_key: key, at }) =>
        (wanted === undefined || wanted.includes(type)) &&
        (type === "m.room.member" ? senders.has(key ?? "") : isEntered || at > (since ?? 0)),
    );
    if (timeline.length === 0 && state.length === 0 && since !== undefined) return undefined;
    const members = new Set(
      room.events.flatMap(({ state_key: key, type }) => (type === "m.room.member" && key !== undefined ? [key] : [])),
    );
    const joined = [...members].filter((member) => this.membership(room, member) === "join").length;
    return {
      summary: { "m.joined_member_count": joined },
      state: { events: state.map(shown) },
      timeline: { events: timeline.map(shown), limited: isEntered || fresh.length > limit, prev_batch: `t${first - 1}` },
    };
  }

  #stripped(room: FakeRoom, userId: string): object[] {
    const kept = [
      this.stateOf(room, "m.room.name"),
      this.stateOf(room, "m.room.encryption"),
      this.stateOf(room, "m.room.member", userId),
    ].filter((event) => event !== undefined);
    return kept.map(({ type, state_key, sender, content }) => ({ type, state_key, sender, content }));
  }

  /** One page of older events, newest first. */
  page(
    room: FakeRoom,
    { from, to, limit, types }: { from: number; to: number | undefined; limit: number; types: string[] | undefined },
  ): object {
    const older = room.events
      .filter(({ at, type }) => at <= from && at > (to ?? 0) && (types === undefined || types.includes(type)))
      .reverse();
    const chunk = older.slice(0, limit);
    const last = chunk.at(-1);
    return { start: `t${from}`, chunk: chunk.map(shown), ...(older.length > limit && last ? { end: `t${last.at - 1}` } : {}) };
  }
}

function membershipOf(content: unknown): unknown {
  return (content as { membership?: unknown } | undefined)?.membership;
}

/** An event as clients see it. */
export function shown({ at: _, ...event }: FakeEvent): object {
  return event;
}
