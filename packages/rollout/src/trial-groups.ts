import type { Revisions } from "@xdstp/cache";
import {
  InterestMap,
  type Entry,
  type Interest,
  type ResourceSource,
  type StoredResource,
} from "@xdstp/core";

import type { ClientTopic, Reader } from "./client-topic.ts";
import { TrialGroup, type TrialGroupHost } from "./trial-group.ts";

/** Two caches that are read as one. */
export interface Stages {
  /** What everyone sees. */
  readonly accepted: ResourceSource;
  /** The same, and what is on trial. */
  readonly ahead: ResourceSource;
  readonly revisions: Revisions;
}

/** The groups of all subscribed interests. */
export class TrialGroups implements TrialGroupHost {
  readonly clients: number;
  readonly #stages: Stages;
  readonly #open = new InterestMap<TrialGroup>();
  readonly #touched = new Set<TrialGroup>();

  constructor(stages: Stages, clients: number) {
    this.#stages = stages;
    this.clients = clients;
  }

  get revision(): number {
    return this.#stages.revisions.last;
  }

  topic(typeUrl: string, interest: Interest, reader: Reader): ClientTopic {
    const open = this.#open.get(typeUrl, interest, interest.name);
    return (open ?? this.#create(typeUrl, interest)).topicFor(reader);
  }

  touched(group: TrialGroup): void {
    this.#touched.add(group);
  }

  opened(group: TrialGroup): TrialGroup {
    const { interest } = group.accepted;
    const open = this.#open.get(group.typeUrl, interest, interest.name);
    if (open === undefined) this.#open.set(group.typeUrl, interest, interest.name, group);
    return open ?? group;
  }

  closed(group: TrialGroup): void {
    const { interest } = group.accepted;
    this.#open.delete(group.typeUrl, interest, interest.name);
    this.#touched.delete(group);
  }

  /** Does something ahead. Gives what came to be there by it, with those that are shown it. */
  watching(act: () => void): ReadonlyMap<StoredResource, readonly TrialGroup[]> {
    const before = this.revision;
    this.#touched.clear();
    act();
    const shown = new Map<StoredResource, TrialGroup[]>();
    for (const group of this.#touched)
      for (const { resource } of updatesOf(group, before))
        if (resource !== undefined) append(shown, resource, group);
    this.#touched.clear();
    return shown;
  }

  #create(typeUrl: string, interest: Interest): TrialGroup {
    const { accepted, ahead } = this.#stages;
    return new TrialGroup(
      typeUrl,
      { accepted: accepted.topic(typeUrl, interest), ahead: ahead.topic(typeUrl, interest) },
      this,
    );
  }
}

function updatesOf({ ahead }: TrialGroup, before: number): readonly Entry[] {
  return ahead.changes(before) ?? ahead.members();
}

function append(
  shown: Map<StoredResource, TrialGroup[]>,
  resource: StoredResource,
  group: TrialGroup,
): void {
  const groups = shown.get(resource);
  if (groups === undefined) shown.set(resource, [group]);
  else groups.push(group);
}
