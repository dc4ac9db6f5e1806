// What our pages have beyond the DOM, for the check of the scripts (jsconfig.json); no page loads it.

/** Elements that scripts find by their id, as the templates make them. */
interface PageElements {
  curate: HTMLDialogElement;
  keys: HTMLDialogElement;
  moment: HTMLInputElement;
  more: HTMLAnchorElement;
  new: HTMLFormElement;
  project: HTMLInputElement;
  query: HTMLInputElement;
  whole: HTMLAnchorElement;
}

interface Document {
  getElementById<Id extends keyof PageElements>(id: Id): PageElements[Id];
}

/** No page of ours has elements of another kind than HTML's. */
interface Element extends HTMLOrSVGElement {
  hidden: boolean;
  readonly offsetHeight: number;
  click(): void;
}

interface DocumentEventMap {
  /** Escape, or a click elsewhere: what is open closes. */
  "rireki:close": CustomEvent<null>;
  /** A key that goes through what the page lists. */
  "rireki:key": CustomEvent<string>;
  /** What the person added was saved: the pieces of the page that are others now. */
  "rireki:curated": CustomEvent<Curated>;
}

interface HTMLElementEventMap {
  /** The cards of what waits for the person have changed. */
  asks: CustomEvent<{ hadFocus: boolean }>;
}

/** Scripts that all tabs share. */
interface Window {
  onconnect: (event: MessageEvent) => void;
}

/** To which side of what the page shows of a conversation. */
type Way = "before" | "after";

/** Something that waits for the person. */
interface Ask {
  id: string;
  number: number;
  what: string;
}

/** How a conversation with an agent is begun, or gone on with. */
interface Start {
  project: string;
  agent: string;
  model?: string;
  id?: string;
  continues?: string;
}

// ── The feed of changes ──

interface Touched {
  conversation: string;
  kind: "new" | "changed" | "removed";
  /** Null where too many changed to name them. */
  messages: string[];
  removed: string[];
}

interface News {
  number: number;
  changes: Touched[];
}

/** What agents are doing, by conversation. */
type Activities = Record<string, unknown>;

type FeedNote =
  | { kind: "open" }
  | { kind: "lost" }
  | { kind: "reset" }
  | { kind: "change"; news: News }
  | { kind: "activity"; activities: Activities };

// ── Fragments of a conversation's page ──

interface UnitHtml {
  id: string;
  html: string;
  /** The unit before it; null for the first. */
  after?: string;
}

interface Head {
  regions: Record<string, string>;
  title: string;
  continues: boolean;
}

interface Fragments extends Head {
  units: UnitHtml[];
  total: number;
  number: number;
  journal?: number;
  at?: string;
  gone?: boolean;
  /** More changed than is worth to bring one by one. */
  many?: boolean;
  tail?: { first: number; ids: string[] };
  outline: { id: string; html: string }[];
  html: string;
}

/** What is asked for, as an address has it. */
type Asked = Record<string, string> | string[][];

// ── Driven agents ──

interface QueuedPrompt {
  id: string;
  text: string;
  images: number;
}

interface SessionStatus {
  id: string;
  number: number;
  conversation: string;
  project: string;
  images: boolean;
  state: string;
  detail: string;
  held: boolean;
  calls: { name: string; title: string }[];
  queue: QueuedPrompt[];
  recovered: unknown[];
  asks: Ask[];
  blocks?: StreamedBlock[];
}

/** A stretch of text or thinking while it streams. */
interface StreamedBlock {
  id: string;
  session: string;
  kind: string;
  text: string;
}

interface Delta {
  session: string;
  block: string;
  at: number;
  text: string;
}

type DriveNote = { lost?: string[] } & (
  | { kind: "all"; sessions?: SessionStatus[]; blocks?: StreamedBlock[] }
  | { kind: "status"; status: SessionStatus }
  | ({ kind: "delta"; of: string } & Delta)
  | { kind: "settled"; n: number; session: string; block: string }
  | { kind: "gone"; session: string }
  | { kind: "out" }
);

/** What went wrong, and what to do. */
interface Refusal {
  message: string;
  hint: string;
}

interface Picture {
  media_type: string;
  data: string;
  name: string;
}

/** What the person has written. */
interface Written {
  text: string;
  mentions?: string[];
  images?: Picture[];
}

/** A prompt on its way, as the browser's storage keeps it. */
interface OutboxItem {
  id: string;
  session: string;
  start: Start;
  text: string;
  mentions: string[];
  at: number;
  images: number;
  number?: number;
  warnings?: string[];
  refused?: Refusal;
}

interface PostNote {
  kind: "sent" | "taken" | "refused" | "over";
  item: OutboxItem;
}

/** What a form of what the person adds is answered with. */
interface Curated {
  regions: Record<string, string>;
  title: string;
  starred: boolean;
  unit: { id: string; html: string } | null;
}
