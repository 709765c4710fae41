import {
  Bars,
  Chat,
  Chip,
  File,
  Home,
  Hook,
  Info,
  Key,
  Lines,
  List,
  Note,
  People,
  Person,
  Phone,
  Plug,
  Search,
  Server,
  Shield,
  Sliders,
  Time,
  Tool,
  Warn,
} from "../../ui/icons.js";

/** Icons by the names that plugins give. @type {Readonly<Record<string, any>>} */
const icons = {
  chart: Bars,
  chat: Chat,
  chip: Chip,
  clock: Time,
  file: File,
  home: Home,
  hook: Hook,
  info: Info,
  key: Key,
  lines: Lines,
  list: List,
  note: Note,
  people: People,
  person: Person,
  phone: Phone,
  plug: Plug,
  search: Search,
  server: Server,
  shield: Shield,
  sliders: Sliders,
  tool: Tool,
  warning: Warn,
};

/** Icon of a panel; one with no name, or one that is not known here, gets a plug. @param {{ icon?: string }} panel */
export function iconOf({ icon = "" }) {
  return Object.hasOwn(icons, icon) ? icons[icon] : Plug;
}
