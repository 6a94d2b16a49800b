import type { Entry, Topic } from "@xdstp/core";
import {
  type Batch,
  carries,
  type Delivery,
  deliveryOf,
  type TypeView,
} from "@xdstp/protocol/server";

/** The names of one topic that a client has not accepted yet; one array for all clients that lack the same. */
type Lacking = readonly Entry[];

/** Follows one type on one stream until the client has accepted what a revision changed, or something later (S-ACK-9). */
export interface AckTracker {
  /** Looks at topics that are new. Answers "rejected" if the client has rejected something of it already. */
  look(view: TypeView): "rejected" | undefined;
  /** A response goes out. */
  pushed(): void;
  /** The response was accepted. */
  acked(): void;
  /** Whether the newest response holds something that is waited for. */
  readonly holds: boolean;
  /** Something of the revision concerns the client. */
  readonly concerned: boolean;
  readonly done: boolean;
  /** What is missing, with how far the first of it has come. */
  missing(): { readonly names: readonly string[]; readonly delivery: Delivery };
}

/** Of the trackers of one wait, what they share: so that a change that concerns thousands is looked at once. */
export type ChangesOf = (topic: Topic) => Lacking;

/** What each topic holds that was changed at a revision or later; looked up once per topic. */
export function changesFrom(revision: number): ChangesOf {
  const known = new Map<Topic, Lacking>();
  return (topic) => {
    if (topic.head < revision) return [];
    let changes = known.get(topic);
    if (changes === undefined)
      known.set(
        topic,
        (changes = (topic.changes(revision - 1) ?? topic.members()).filter(
          (entry) => entry.revision >= revision,
        )),
      );
    return changes;
  };
}

/** A tracker that has not looked yet. */
export function createAckTracker(revision: number, changesOf: ChangesOf): AckTracker {
  return new Tracker(revision, changesOf);
}

class Tracker implements AckTracker {
  concerned = false;
  #view: TypeView | undefined;
  readonly #revision: number;
  readonly #changesOf: ChangesOf;
  readonly #seen = new Set<Topic>();
  #lacking = new Map<Topic, Lacking>();
  /** What is still lacking once the newest response is accepted; undefined: it holds nothing of it. */
  #after: Map<Topic, Lacking> | undefined;

  constructor(revision: number, changesOf: ChangesOf) {
    this.#revision = revision;
    this.#changesOf = changesOf;
  }

  get holds(): boolean {
    return this.#after !== undefined;
  }
  get done(): boolean {
    return this.#lacking.size === 0;
  }

  look(view: TypeView): "rejected" | undefined {
    this.#view = view;
    let rejected = false;
    for (const topic of view.topics) {
      if (this.#seen.has(topic)) continue;
      this.#seen.add(topic);
      rejected = this.#lookAt(view, topic) || rejected;
    }
    this.pushed();
    return rejected ? "rejected" : undefined;
  }

  #lookAt(view: TypeView, topic: Topic): boolean {
    const changes = this.#changesOf(topic);
    const heard =
      view.removals === "never" && changes.some(isRemoval)
        ? changes.filter((entry) => !isRemoval(entry))
        : changes;
    if (heard.length === 0) return false;
    this.concerned = true;
    const lacking = this.#isBehind(view)
      ? heard
      : heard.filter((entry) => deliveryOf(view, topic, entry) !== "accepted");
    if (lacking.length > 0) this.#lacking.set(topic, lacking);
    return (
      view.exchange.rejected !== undefined &&
      lacking.some((entry) => deliveryOf(view, topic, entry) === "rejected")
    );
  }

  /** The usual case: nothing of the revision can have been accepted. */
  #isBehind({ exchange }: TypeView): boolean {
    return exchange.rejected === undefined && exchange.accepted < this.#revision;
  }

  pushed(): void {
    const view = this.#view;
    const inFlight = view?.exchange.inFlight;
    this.#after = undefined;
    if (inFlight === undefined || view === undefined || this.done) return;
    const after = new Map<Topic, Lacking>();
    let holds = false;
    for (const [topic, lacking] of this.#lacking) {
      const rest = restOf(inFlight, view.removals, topic, lacking, this.#revision);
      if (rest.length < lacking.length) holds = true;
      if (rest.length > 0) after.set(topic, rest);
    }
    if (holds) this.#after = after;
  }

  /** What a client held before it asked is not sent to it: then the state tells. */
  acked(): void {
    this.#lacking = this.#after ?? this.#lacking;
    this.#after = undefined;
    const view = this.#view;
    if (view === undefined) return;
    for (const [topic, lacking] of [...this.#lacking]) {
      const rest = lacking.filter(
        (entry) => deliveryOf(view, topic, topic.get(entry.name) ?? entry) !== "accepted",
      );
      if (rest.length === 0) this.#lacking.delete(topic);
      else this.#lacking.set(topic, rest);
    }
  }

  missing(): { readonly names: readonly string[]; readonly delivery: Delivery } {
    const view = this.#view;
    const [first] = this.#lacking;
    const names = [...this.#lacking.values()]
      .flatMap((lacking) => lacking.slice(0, mostNames).map(({ name }) => name))
      .slice(0, mostNames);
    if (view === undefined || first?.[1][0] === undefined) return { names, delivery: "pending" };
    const [topic, [entry]] = first as [Topic, [Entry]];
    const delivery = deliveryOf(view, topic, topic.get(entry.name) ?? entry);
    return { names, delivery: this.holds ? "in-flight" : delivery };
  }
}

const mostNames = 10;

function isRemoval({ resource }: Entry): boolean {
  return resource === undefined;
}

const rests = new WeakMap<Batch, Map<Lacking, Lacking>>();

/** What a response leaves lacking; streams share their responses. */
function restOf(
  sent: Batch,
  removals: TypeView["removals"],
  topic: Topic,
  lacking: Lacking,
  revision: number,
): Lacking {
  const known = rests.get(sent) ?? new Map<Lacking, Lacking>();
  rests.set(sent, known);
  let rest = known.get(lacking);
  if (rest === undefined)
    known.set(
      lacking,
      (rest = lacking.filter((entry) => !carries(sent, removals, topic, { ...entry, revision }))),
    );
  return rest;
}
