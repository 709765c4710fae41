import { html } from "../core/html.js";

/** 20 px line icons in the colour of the text. They say nothing to a screen reader: the word stands beside them or in a label. */

/** @param {string} d @param {number} [width] @param {string} [look] `turns`: points another way where lines run from right to left @returns {() => any} */
function icon(d, width = 1.8, look = undefined) {
  return () =>
    html`<svg class=${look} viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width=${width} stroke-linecap="round"
      stroke-linejoin="round" aria-hidden="true"><path d=${d} /></svg>`;
}

export const Home = icon("M4 11l8-7 8 7M6 10v9h12v-9M10 19v-5h4v5");
export const Chat = icon("M5 5h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-8l-5 4v-4H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2z");
export const List = icon("M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01");
export const Hook = icon(
  "M12 3a4 4 0 0 1 2 7.5l3 5.5M12 3a4 4 0 0 0-2 7.5L7 16M7 20a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 17h7M17 20a3 3 0 1 0 0-6",
);
export const People = icon(
  "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.5a3.5 3.5 0 0 1 0 6M17.5 14.5A6 6 0 0 1 21 20",
);
export const Plug = icon("M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4");
export const Phone = icon("M8 3h8l1 1v16l-1 1H8l-1-1V4zM11 18h2");
export const Time = icon("M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2");
export const Lines = icon("M4 6h16M4 12h10M4 18h13");
export const Bars = icon("M5 20V10M12 20V4M19 20v-7");
export const Chip = icon("M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4");
export const Shield = icon("M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z");
export const Sliders = icon("M4 6h9M17 6h3M4 12h3M11 12h9M4 18h7M15 18h5M15 4v4M9 10v4M13 16v4");
export const Server = icon("M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01");
export const Person = icon("M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0");
export const Info = icon("M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8h.01");
export const Warn = icon("M12 4L2.8 19.5h18.4L12 4zM12 10v4.5M12 17h.01");
export const Search = icon("M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4");
export const Plus = icon("M12 5v14M5 12h14");
export const Send = icon("M12 19V5M6 11l6-6 6 6");
export const Stop = icon("M7 7h10v10H7z");
export const Copy = icon("M9 9h10v11H9zM5 15V4h10");
export const Check = icon("M5 12.5l4.5 4.5L19 7");
export const Close = icon("M6 6l12 12M18 6L6 18");
export const Back = icon("M15 5l-7 7 7 7", undefined, "turns");
export const Down = icon("M12 5v14M6 13l6 6 6-6");
export const Open = icon("M9 5l7 7-7 7", undefined, "turns");
export const More = icon("M6 12h.01M12 12h.01M18 12h.01", 2.8);
export const Pin = icon("M9 4h6l-1 6 3 3v2H7v-2l3-3-1-6zM12 15v6");
export const Archive = icon("M4 5h16v4H4zM6 9v10h12V9M10 13h4");
export const Trash = icon("M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13");
export const Pencil = icon("M4 20l1-4L16 5l3 3L8 19l-4 1z");
export const Reset = icon("M4 12a8 8 0 1 1 2.5 5.8M4 19v-5h5");
export const File = icon("M7 3h7l5 5v13H7zM14 3v5h5");
export const Note = icon("M5 4h14v16H5zM9 4v16M12 9h4M12 13h4");
export const Tool = icon("M14.5 6.5a4 4 0 0 1 5-1.3l-2.6 2.6 1.8 1.8 2.6-2.6a4 4 0 0 1-5.3 5L8 20l-3-3 8-8a4 4 0 0 1 1.5-2.5z");
export const Key = icon("M14 14a5 5 0 1 0-4-4l-7 7v4h4v-3h3v-3l4-1zM16 8h.01");
