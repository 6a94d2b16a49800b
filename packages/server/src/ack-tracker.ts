import type { Entry, Topic } from "@xdstp/core";
import {
  type Batch,
  carries,
  type Delivery,
  deliveryOf,
  type TypeView,
} from "@xdstp/protocol/server";

/**
 * The entries of one topic that a client has not accepted yet. Clients that lack the same entries
 * share one array.
 */
type Lacking = readonly Entry[];

/**
 * Follows one type on one stream until the client has accepted the changes of a revision, or a
 * later state of them (S-ACK-9).
 */
export interface AckTracker {
  /**
   * Checks new topics, and forgets those that the client has unsubscribed. Returns "rejected" if
   * the client has already rejected a change.
   */
  look(view: TypeView): "rejected" | undefined;
  /**
   * Forgets the missing changes of topics that the client has unsubscribed: they are not sent to it
   * any more (S-SUB-4).
   */
  forgetUnsubscribed(view: TypeView): void;
  /** Called when a response is sent. */
  pushed(): void;
  /** Called when the response is accepted. */
  acked(): void;
  /** True if the newest response has a change that is waited for. */
  readonly holds: boolean;
  /** True if the client has accepted a change of the revision, or is still to accept it. */
  readonly concerned: boolean;
  readonly done: boolean;
  /** Returns the missing names, and the delivery state of the first. */
  missing(): { readonly names: readonly string[]; readonly delivery: Delivery };
}

/**
 * Returns the changes of a topic. The trackers of one wait share it, so a change that concerns
 * thousands of clients is looked up once.
 */
export type ChangesOf = (topic: Topic) => Lacking;

/**
 * Returns a function for the entries of a topic that were changed at a revision or later. It looks
 * up each topic once.
 */
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

/** Creates a tracker that has not checked any topic yet. */
export function createAckTracker(revision: number, changesOf: ChangesOf): AckTracker {
  return new Tracker(revision, changesOf);
}

class Tracker implements AckTracker {
  #view: TypeView | undefined;
  readonly #revision: number;
  readonly #changesOf: ChangesOf;
  readonly #seen = new Set<Topic>();
  readonly #concerning = new Set<Topic>();
  #lacking = new Map<Topic, Lacking>();
  /**
   * The entries that are missing once the newest response is accepted. `undefined`: the response
   * has none of them.
   */
  #after: Map<Topic, Lacking> | undefined;

  constructor(revision: number, changesOf: ChangesOf) {
    this.#revision = revision;
    this.#changesOf = changesOf;
  }

  get concerned(): boolean {
    return this.#concerning.size > 0;
  }
  get holds(): boolean {
    return this.#after !== undefined;
  }
  get done(): boolean {
    return this.#lacking.size === 0;
  }

  look(view: TypeView): "rejected" | undefined {
    this.forgetUnsubscribed(view);
    let rejected = false;
    for (const topic of view.topics) {
      if (this.#seen.has(topic)) continue;
      this.#seen.add(topic);
      rejected = this.#lookAt(view, topic) || rejected;
    }
    this.pushed();
    return rejected ? "rejected" : undefined;
  }

  forgetUnsubscribed(view: TypeView): void {
    this.#view = view;
    if (this.done) return;
    const subscribed = new Set(view.topics);
    for (const topic of [...this.#lacking.keys()].filter((one) => !subscribed.has(one))) {
      this.#lacking.delete(topic);
      this.#concerning.delete(topic);
      this.#seen.delete(topic);
    }
    this.pushed();
  }

  #lookAt(view: TypeView, topic: Topic): boolean {
    const changes = this.#changesOf(topic);
    const heard =
      view.removals === "never" && changes.some(isRemoval)
        ? changes.filter((entry) => !isRemoval(entry))
        : changes;
    if (heard.length === 0) return false;
    this.#concerning.add(topic);
    const lacking = this.#isBehind(view)
      ? heard
      : heard.filter((entry) => deliveryOf(view, topic, entry) !== "accepted");
    if (lacking.length > 0) this.#lacking.set(topic, lacking);
    return (
      view.exchange.rejected !== undefined &&
      lacking.some((entry) => deliveryOf(view, topic, entry) === "rejected")
    );
  }

  /** The usual case: the client cannot have accepted anything of the revision yet. */
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

  /**
   * A client is not sent a resource that it already had when it subscribed. Then the delivery state
   * shows that it is accepted.
   */
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

/**
 * Returns the entries that a response leaves missing. Cached by response, since streams share
 * responses.
 */
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
