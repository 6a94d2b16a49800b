import type { Revisions } from "@xdstp/cache";
import {
  interestKey,
  type Entry,
  type Interest,
  type ResourceSource,
  type StoredResource,
} from "@xdstp/core";

import type { ClientTopic, Reader } from "./client-topic.ts";
import { Panel, type PanelHost } from "./panel.ts";

/** Two caches that are read as one. */
export interface Stages {
  /** What everyone sees. */
  readonly accepted: ResourceSource;
  /** The same, and what is on trial. */
  readonly ahead: ResourceSource;
  readonly revisions: Revisions;
}

/** The groups of all subscribed interests. */
export class Panels implements PanelHost {
  readonly clients: number;
  readonly #stages: Stages;
  readonly #open = new Map<string, Panel>();
  readonly #touched = new Set<Panel>();

  constructor(stages: Stages, clients: number) {
    this.#stages = stages;
    this.clients = clients;
  }

  get revision(): number {
    return this.#stages.revisions.last;
  }

  topic(typeUrl: string, interest: Interest, reader: Reader): ClientTopic {
    return (this.#open.get(keyOf(typeUrl, interest)) ?? this.#create(typeUrl, interest)).topicFor(
      reader,
    );
  }

  touched(panel: Panel): void {
    this.#touched.add(panel);
  }

  opened(panel: Panel): Panel {
    const key = keyOf(panel.typeUrl, panel.accepted.interest);
    const open = this.#open.get(key);
    if (open === undefined) this.#open.set(key, panel);
    return open ?? panel;
  }

  closed(panel: Panel): void {
    this.#open.delete(keyOf(panel.typeUrl, panel.accepted.interest));
    this.#touched.delete(panel);
  }

  /** Does something ahead. Gives what came to be there by it, with those that are shown it. */
  watching(act: () => void): ReadonlyMap<StoredResource, readonly Panel[]> {
    const before = this.revision;
    this.#touched.clear();
    act();
    const shown = new Map<StoredResource, Panel[]>();
    for (const panel of this.#touched)
      for (const { resource } of newsOf(panel, before))
        if (resource !== undefined) append(shown, resource, panel);
    this.#touched.clear();
    return shown;
  }

  #create(typeUrl: string, interest: Interest): Panel {
    const { accepted, ahead } = this.#stages;
    return new Panel(
      typeUrl,
      { accepted: accepted.topic(typeUrl, interest), ahead: ahead.topic(typeUrl, interest) },
      this,
    );
  }
}

function newsOf({ ahead }: Panel, before: number): readonly Entry[] {
  return ahead.changes(before) ?? ahead.members();
}

function append(shown: Map<StoredResource, Panel[]>, resource: StoredResource, panel: Panel): void {
  const panels = shown.get(resource);
  if (panels === undefined) shown.set(resource, [panel]);
  else panels.push(panel);
}

function keyOf(typeUrl: string, interest: Interest): string {
  return `${typeUrl}\n${interestKey(interest, interest.name)}`;
}
