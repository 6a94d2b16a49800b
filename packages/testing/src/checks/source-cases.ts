import {
  type Entry,
  type Put,
  type Removal,
  type ResourceSource,
  type Topic,
  type TypedInterest,
  type Watcher,
  XdsError,
} from "@xdstp/core";
import { type CaseOf, demand } from "./contract-case.ts";
import type { TestedSource } from "./tested-source.ts";

type SourceCase = CaseOf<TestedSource>;

const TYPE = "type.googleapis.com/xdstp.check.Thing";
const OTHER_TYPE = "type.googleapis.com/xdstp.check.Other";
const GLOB = "xdstp://check/xdstp.check.Thing/p/*";
const WILDCARD = "*";

/** The name of a member of the glob. */
const nameOf = (id: string): string => `xdstp://check/xdstp.check.Thing/p/${id}`;

function put(id: string, content: string, typeUrl = TYPE): Put {
  const name = typeUrl === TYPE ? nameOf(id) : id;
  const value = new TextEncoder().encode(content);
  return { typeUrl, resource: { name, version: content, payload: { typeUrl, value } } };
}

function removal(id: string, error?: XdsError): Removal {
  const one = { typeUrl: TYPE, name: nameOf(id) };
  return error === undefined ? one : { ...one, error };
}

const complete = (name: string): readonly TypedInterest[] => [
  { typeUrl: TYPE, interest: { name } },
];

/** A watched topic: while it is watched, its source keeps it up to date. */
function watched(source: ResourceSource, name: string, typeUrl = TYPE): Topic {
  const topic = source.topic(typeUrl, { name });
  topic.watch({ wake: () => undefined });
  return topic;
}

/** Entries as text: `id=version` for a resource, `-id` for a removal. */
function textOf(entries: readonly Entry[] | undefined): string {
  if (entries === undefined) return "undefined";
  return entries
    .map(({ name, resource }) => {
      const id = name.slice(name.lastIndexOf("/") + 1);
      return resource === undefined ? `-${id}` : `${id}=${resource.given}`;
    })
    .join(" ");
}

/** Entries as text, in the order of their ids: for members, which have no order. */
function sortedTextOf(entries: readonly Entry[]): string {
  return textOf(entries).split(" ").sort().join(" ");
}

/** Throws unless two values are equal. */
function demandEqual(
  found: string | number | boolean,
  wanted: string | number | boolean,
  what: string,
): void {
  demand(found === wanted, `${what}: expected "${String(wanted)}", found "${String(found)}"`);
}

/** Throws unless the revisions of entries increase, and none is newer than the topic and its source. */
function demandOrder(topic: Topic, source: ResourceSource): void {
  let before = 0;
  for (const { revision } of topic.changes(0) ?? []) {
    demand(revision >= before, "changes() is not ordered by revision");
    before = revision;
  }
  demand(before <= topic.head, "an entry is newer than the head of its topic");
  demand(topic.head <= source.revision, "the head of a topic is newer than the source");
}

const cases: readonly SourceCase[] = [
  {
    name: "changes() has each name once, at its newest revision, oldest first",
    rules: ["S-DUP-1"],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      await commit({ put: [put("a", "1")] });
      const first = topic.head;
      await commit({ put: [put("b", "1")] });
      const second = topic.head;
      await commit({ put: [put("a", "2")] });
      demandEqual(textOf(topic.changes(0)).replace(/^-\* /, ""), "b=1 a=2", "changes(0)");
      demandEqual(textOf(topic.changes(first)), "b=1 a=2", "changes() after the first revision");
      demandEqual(textOf(topic.changes(second)), "a=2", "changes() after the second revision");
      demandEqual(textOf(topic.changes(topic.head)), "", "changes(head)");
      demandOrder(topic, source);
      return undefined;
    },
  },
  {
    name: "revisions and heads never decrease, and another type does not move a head",
    rules: ["B-STREAM-3"],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      const other = watched(source, "x", OTHER_TYPE);
      await commit({ put: [put("a", "1"), put("x", "1", OTHER_TYPE)] });
      const [head, otherHead, revision] = [topic.head, other.head, source.revision];
      await commit({ put: [put("x", "2", OTHER_TYPE)] });
      demandEqual(topic.head, head, "the head of a topic whose type has not changed");
      demand(other.head > otherHead, "the head of a topic did not move with a change");
      demand(source.revision > revision, "the revision of the source did not move with a change");
      demandEqual(textOf(topic.changes(head)), "", "changes() after a change of another type");
      return undefined;
    },
  },
  {
    name: "the same state gives the same arrays, and a new state gives others",
    rules: [],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      await commit({ put: [put("a", "1"), put("b", "1")] });
      const [members, changes] = [topic.members(), topic.changes(0)];
      demand(topic.members() === members, "members() returned another array of the same state");
      demand(topic.changes(0) === changes, "changes(0) returned another array of the same state");
      await commit({ put: [put("x", "1", OTHER_TYPE)] });
      demand(topic.members() === members, "another type gave members() another array");
      await commit({ put: [put("a", "2")] });
      demand(topic.members() !== members, "members() returned the array of an older state");
      demandEqual(sortedTextOf(topic.members()), "a=2 b=1", "members() of the new state");
      demandEqual(sortedTextOf(members), "a=1 b=1", "an array that was returned before");
      return undefined;
    },
  },
  {
    name: "a removed name is a tombstone in changes(), and not a member",
    rules: ["S-REM-1", "S-RECON-10"],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      await commit({ put: [put("a", "1"), put("b", "1")] });
      const before = topic.head;
      await commit({ remove: [removal("a")] });
      demandEqual(textOf(topic.changes(before)), "-a", "changes() after the removal");
      demandEqual(textOf(topic.members()), "b=1", "members()");
      demandEqual(textOf(topic.removed()), "-a", "removed()");
      demand(topic.get(nameOf("a")) === undefined, "get() returned a removed name");
      demandEqual(topic.get(nameOf("b"))?.resource?.given ?? "", "1", "get() of the other name");
      demandOrder(topic, source);
      return undefined;
    },
  },
  {
    name: "a name that comes back is one entry, and exists since then",
    rules: ["S-ORD-4", "S-REM-1"],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      await commit({ put: [put("a", "1"), put("b", "1")] });
      const [before, since] = [topic.head, topic.get(nameOf("a"))?.since ?? -1];
      await commit({ remove: [removal("a")] });
      await commit({ put: [put("a", "1")] });
      demandEqual(textOf(topic.changes(before)), "a=1", "changes() after removal and return");
      demandEqual(textOf(topic.removed()), "", "removed()");
      const entry = topic.get(nameOf("a"));
      demand(entry !== undefined, "get() does not return the name that came back");
      demand(entry.since > since, "since did not move although the name was removed in between");
      demandEqual(topic.get(nameOf("b"))?.since ?? -1, since, "since of a name that stayed");
      return undefined;
    },
  },
  {
    name: "an entry that a newer one replaces is superseded",
    rules: [],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      await commit({ put: [put("a", "1")] });
      const old = topic.get(nameOf("a"));
      demand(old?.superseded === false, "the newest entry of a name is superseded");
      await commit({ put: [put("a", "2")] });
      demand(old.superseded, "an entry is not superseded although its name has a newer one");
      const removed = topic.get(nameOf("a"));
      await commit({ remove: [removal("a")] });
      demand(
        removed?.superseded === true,
        "an entry is not superseded although its name was removed",
      );
      return undefined;
    },
  },
  {
    name: "hash is the sum of the hashes of the members",
    rules: ["S-VER-2", "S-VER-4"],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      const demandHash = (when: string): number => {
        const sum = topic
          .members()
          .reduce((all, { resource }) => all + BigInt(resource?.hash ?? 0), 0n);
        demandEqual(topic.hash, Number(sum % (1n << 52n)), `hash ${when}`);
        return topic.hash;
      };
      await commit({ put: [put("a", "1"), put("b", "1"), put("c", "1")] });
      const first = demandHash("of three members");
      await commit({ put: [put("a", "2")], remove: [removal("b")] });
      const second = demandHash("after a change and a removal");
      demand(first !== second, "hash did not change with the content");
      await commit({ put: [put("a", "1"), put("b", "1")] });
      demandEqual(demandHash("of the first state again"), first, "hash of equal states");
      return undefined;
    },
  },
  {
    name: "an empty topic that is settled has one entry without a resource, except the wildcard",
    rules: ["S-GLOB-3", "S-WILD-7", "S-MISS-1"],
    check: async ({ source, commit }) => {
      const error = new XdsError("NOT_FOUND", "a test removed it");
      const topics = [GLOB, nameOf("a"), WILDCARD].map((name) => watched(source, name));
      await commit({
        complete: [...complete(GLOB), ...complete(WILDCARD)],
        remove: [removal("a", error)],
      });
      for (const { settled, interest } of topics)
        demand(settled, `the topic of ${interest.name} is not settled although all of it is known`);
      const [glob, name, wildcard] = topics;
      demandEqual(textOf(glob?.members()), "-*", "members() of an empty glob");
      demandEqual(textOf(name?.members()), "-a", "members() of a name that does not exist");
      demandEqual(textOf(wildcard?.members()), "", "members() of an empty wildcard");
      demandEqual(glob?.members()[0]?.name ?? "", GLOB, "the name of the entry of an empty glob");
      demandEqual(glob?.hash ?? -1, 0, "the hash of an empty glob");
      await commit({ put: [put("a", "1")] });
      for (const topic of topics)
        demandEqual(textOf(topic.members()), "a=1", `members() of ${topic.interest.name}`);
      await commit({ remove: [removal("a", error)] });
      demandEqual(textOf(glob?.members()), "-*", "members() of a glob that has become empty");
      return undefined;
    },
  },
  {
    name: "a name that was removed with an error shows this error",
    rules: ["C-MISS-3"],
    check: async ({ source, commit }) => {
      const topic = watched(source, nameOf("a"));
      await commit({ put: [put("a", "1")] });
      await commit({
        remove: [removal("a", new XdsError("PERMISSION_DENIED", "a test denied it"))],
      });
      const [entry] = topic.members();
      demand(entry !== undefined && entry.resource === undefined, "the removed name is not shown");
      demandEqual(entry.error?.code ?? "", "PERMISSION_DENIED", "the code of the error");
      return undefined;
    },
  },
  {
    name: "a complete state removes the members that it lacks",
    rules: ["C-FULL-3"],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      await commit({ put: [put("a", "1"), put("b", "1")], complete: complete(GLOB) });
      await commit({ put: [put("b", "1"), put("c", "1")], complete: complete(GLOB) });
      demandEqual(sortedTextOf(topic.members()), "b=1 c=1", "members()");
      demandEqual(textOf(topic.removed()), "-a", "removed()");
      return undefined;
    },
  },
  {
    name: "a transaction is visible as a whole, over all types, when a watcher is woken",
    rules: ["S-STREAM-6"],
    check: async ({ source, commit }) => {
      const topics = [
        watched(source, GLOB),
        watched(source, "x", OTHER_TYPE),
        watched(source, nameOf("b")),
      ];
      const seen = new Set<string>();
      const watcher: Watcher = {
        wake: () => {
          seen.add(topics.map((topic) => sortedTextOf(topic.members())).join(", "));
        },
      };
      await commit({ put: [put("a", "1"), put("b", "1"), put("x", "1", OTHER_TYPE)] });
      for (const topic of topics) topic.watch(watcher);
      await commit({ put: [put("a", "2"), put("b", "2"), put("x", "2", OTHER_TYPE)] });
      demandEqual([...seen].join("; "), "a=2 b=2, x=2, b=2", "the states that a watcher saw");
      return undefined;
    },
  },
  {
    name: "a watcher is woken by changes until it stops watching, and never inside of watch()",
    rules: ["S-STREAM-10"],
    check: async ({ source, commit }) => {
      await commit({ put: [put("a", "1")] });
      const topic = source.topic(TYPE, { name: nameOf("a") });
      let wakes = 0;
      const watcher: Watcher = {
        wake: (woken) => {
          wakes++;
          demand(woken.interest.name === nameOf("a"), "the watcher was woken for another topic");
        },
      };
      topic.unwatch(watcher);
      topic.watch(watcher);
      topic.watch(watcher);
      demandEqual(wakes, 0, "the wakes inside of watch()");
      await commit({ put: [put("a", "2")] });
      demand(wakes > 0, "a change did not wake the watcher");
      topic.unwatch(watcher);
      const before = wakes;
      await commit({ put: [put("a", "3")] });
      demandEqual(wakes, before, "the wakes after unwatch(), also if watch() was called twice");
      return undefined;
    },
  },
  {
    name: "equal interests give the same topic while it is watched, and topics share entries",
    rules: ["B-GLOB-13"],
    check: async ({ source, commit }) => {
      const topic = watched(source, nameOf("a"));
      demand(
        source.topic(TYPE, { name: nameOf("a") }) === topic,
        "equal interests gave two topics",
      );
      demand(
        source.topic(TYPE, { name: nameOf("a"), parameters: new Map() }) === topic,
        "no parameters and an empty map of parameters gave two topics",
      );
      const [glob, wildcard] = [watched(source, GLOB), watched(source, WILDCARD)];
      await commit({ put: [put("a", "1")] });
      const entry = topic.get(nameOf("a"));
      demand(entry !== undefined, "the topic does not have its name");
      for (const other of [glob, wildcard])
        demand(
          other.get(nameOf("a")) === entry && other.members()[0] === entry,
          `the topic of ${other.interest.name} has an entry of its own for the same name`,
        );
      return undefined;
    },
  },
  {
    name: "a topic answers in the spelling of its interest, whatever the resource is called",
    rules: ["N-40", "N-42"],
    check: async ({ source, commit }) => {
      const stored = "xdstp://check/xdstp.check.Thing/q?a=1&b=2";
      const asked = "xdstp://check/xdstp.check.Thing/q?b=2&a=1";
      const topic = watched(source, asked);
      const value = new Uint8Array(3);
      await commit({
        put: [
          {
            typeUrl: TYPE,
            resource: { name: stored, version: "1", payload: { typeUrl: TYPE, value } },
          },
        ],
      });
      demandEqual(topic.members()[0]?.name ?? "", asked, "the name of the member");
      demand(topic.get(stored) !== undefined, "get() does not know another spelling of the name");
      demand(
        topic.get(asked)?.resource === watched(source, stored).get(stored)?.resource,
        "two spellings do not share the resource",
      );
      await commit({ remove: [{ typeUrl: TYPE, name: stored }] });
      demandEqual(topic.members()[0]?.name ?? "", asked, "the name of the removed member");
      return undefined;
    },
  },
  {
    name: "an invalid interest gives a settled, empty topic, and does not throw",
    rules: ["N-18"],
    check: ({ source }) => {
      for (const name of [
        "xdstp://check/xdstp.check.Thing/a#alt=b",
        "xdstp:///%",
        "xdstp://check/T/%ZZ",
      ]) {
        const topic = watched(source, name);
        demand(topic.settled, `the topic of ${name} is not settled`);
        demand(
          topic.members().every(({ resource }) => resource === undefined),
          `the topic of ${name} has a member`,
        );
      }
      return Promise.resolve(undefined);
    },
  },
  {
    name: "a reader that comes late sees the same state as one that was there from the start",
    rules: [],
    check: async ({ source, commit }) => {
      const names = [GLOB, WILDCARD, nameOf("a"), nameOf("b")];
      const early = names.map((name) => watched(source, name));
      await commit({ put: [put("a", "1"), put("b", "1"), put("c", "1")] });
      await commit({ put: [put("a", "2")], remove: [removal("b")] });
      await commit({ put: [put("d", "1")], remove: [removal("c")] });
      for (const [index, name] of names.entries()) {
        const [late, first] = [source.topic(TYPE, { name }), early[index]];
        demandEqual(
          sortedTextOf(late.members()),
          sortedTextOf(first?.members() ?? []),
          `members() of ${name}`,
        );
        demandEqual(late.hash, first?.hash ?? -1, `hash of ${name}`);
      }
      return undefined;
    },
  },
  {
    name: "5,000 resources of one transaction are one revision",
    rules: [],
    check: async ({ source, commit }) => {
      const topic = watched(source, GLOB);
      const ids = Array.from({ length: 5_000 }, (_, index) => String(index));
      await commit({ put: ids.map((id) => put(id, "1")) });
      demandEqual(topic.members().length, ids.length, "the number of members");
      demandEqual(
        new Set(topic.members().map(({ revision }) => revision)).size,
        1,
        "the number of revisions",
      );
      const before = topic.head;
      await commit({ remove: ids.map((id) => removal(id)), complete: complete(GLOB) });
      demandEqual(textOf(topic.members()), "-*", "members() after all were removed");
      demandEqual(
        topic.changes(before)?.filter(({ name }) => name !== GLOB).length ?? -1,
        ids.length,
        "the number of removals",
      );
      return undefined;
    },
  },
  {
    name: "a type is served from its first resource on, also when that is removed",
    rules: ["S-STREAM-8"],
    check: async ({ source, commit }) => {
      await commit({ put: [put("a", "1")] });
      demand(source.serves(TYPE), "the type of a cached resource is not served");
      await commit({ remove: [removal("a")] });
      demand(
        source.serves(TYPE),
        "a type is not served any more although a resource of it was cached",
      );
      demand(
        !source.serves(OTHER_TYPE),
        "a type without a resource and without a descriptor is served",
      );
      return undefined;
    },
  },
  {
    name: "a supply that fails makes topics stale, and keeps their resources",
    rules: ["C-RECON-8"],
    check: async ({ source, commit, unavailable }) => {
      if (unavailable === undefined) return "the test of this source cannot make its supply fail";
      const topic = watched(source, nameOf("a"));
      await commit({ put: [put("a", "1")] });
      let wakes = 0;
      topic.watch({
        wake: () => {
          wakes++;
        },
      });
      unavailable(TYPE, new XdsError("UNAVAILABLE", "a test stopped the supply"));
      demandEqual(topic.stale?.code ?? "", "UNAVAILABLE", "the reason why the topic is stale");
      demand(wakes > 0, "a watcher was not woken when its topic became stale");
      demandEqual(textOf(topic.members()), "a=1", "members() of a stale topic");
      unavailable(TYPE, undefined);
      demand(topic.stale === undefined, "a topic is stale although its supply works again");
      return undefined;
    },
  },
];

/** Returns all cases of `checkSource`. */
export function sourceCases(): readonly SourceCase[] {
  return cases;
}
