import type {
  Put,
  Removal,
  Resource,
  ResourceFeed,
  ResourceSink,
  Transaction,
  TypedInterest,
} from "@xdstp/core";

/** The resources of a name now: one resource, those of a collection, or none. */
export type Make = (typeUrl: string, name: string) => readonly Resource[];

/** A feed that holds nothing: it makes resources at the moment when somebody asks for their names. */
export interface OnDemandFeed extends Required<ResourceFeed> {
  /** Something has changed: what is wanted now is made again. What comes out as it was is not news to anybody. */
  changed(): void;
}

/** Makes the feed. A `make` that has to wait for a database may: a name without an answer is pending, and nobody concludes anything from that. */
export function createOnDemandFeed(make: Make): OnDemandFeed {
  const wanted = new Map<string, TypedInterest>();
  let sink: ResourceSink | undefined;
  const answer = (asked: readonly TypedInterest[]): void => {
    void sink?.commit(answersTo(asked, make));
  };
  return {
    async run(given, signal) {
      sink = given;
      answer([...wanted.values()]);
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          resolve();
        });
      });
    },
    want(typeUrl, added, dropped) {
      for (const { name } of dropped) wanted.delete(`${typeUrl} ${name}`);
      for (const interest of added)
        wanted.set(`${typeUrl} ${interest.name}`, { typeUrl, interest });
      answer(added.map((interest) => ({ typeUrl, interest })));
    },
    changed() {
      answer([...wanted.values()]);
    },
  };
}

/** All answers as one transaction, in which two names that lead to one resource put it once. */
function answersTo(asked: readonly TypedInterest[], make: Make): Transaction {
  const put = new Map<string, Put>();
  const remove: Removal[] = [];
  const settled: TypedInterest[] = [];
  for (const { typeUrl, interest } of asked) {
    const made = make(typeUrl, interest.name);
    for (const resource of made) put.set(`${typeUrl} ${resource.name}`, { typeUrl, resource });
    if (interest.name === "*") settled.push({ typeUrl, interest });
    else if (made.length === 0) remove.push({ typeUrl, name: interest.name });
  }
  return { put: [...put.values()], remove, settled };
}
