// What our pages have beyond the DOM, for the check of the scripts (jsconfig.json); no page loads it.

/** Elements that scripts find by their id, as the templates make them. */
interface PageElements {
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
