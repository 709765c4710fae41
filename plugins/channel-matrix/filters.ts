/** State of a room that is read. */
const STATE = ["m.room.name", "m.room.canonical_alias", "m.room.encryption", "m.room.member"];
const MESSAGES = ["m.room.message", "m.room.encrypted"];
const NOTHING = { types: [], not_types: ["*"] };

/** Events of one room in one answer; what is left out is fetched. */
const TIMELINE_LIMIT = 50;
const LAZY = { lazy_load_members: true, include_redundant_members: true };

const base = {
  presence: NOTHING,
  account_data: { types: ["m.direct"] },
};

/** Filter for everything from now on: messages, and the state that decides about them. */
export const FOLLOW_FILTER = followFilter(TIMELINE_LIMIT);
/** As {@link FOLLOW_FILTER}, for an answer that is too long otherwise: nearly all messages are fetched room by room. */
export const SHORT_FOLLOW_FILTER = followFilter(1);

function followFilter(limit: number): string {
  return JSON.stringify({
    ...base,
    room: {
      ephemeral: NOTHING,
      account_data: NOTHING,
      state: { types: STATE, ...LAZY },
      timeline: { types: [...MESSAGES, ...STATE], limit, ...LAZY },
    },
  });
}

/** Filter for the present state of the rooms, without the messages in them. */
export const SURVEY_FILTER = JSON.stringify({
  ...base,
  room: {
    ephemeral: NOTHING,
    account_data: NOTHING,
    state: { types: [...STATE, "m.room.power_levels"], ...LAZY },
    timeline: { types: STATE, limit: 1, ...LAZY },
  },
});

/** Older events of a room. */
export const HISTORY_FILTER = JSON.stringify({ types: [...MESSAGES, ...STATE], lazy_load_members: true });
