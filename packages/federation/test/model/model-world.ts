import { createCache, type Cache } from "@xdstp/cache";
import type { Topic } from "@xdstp/core";
import {
  createFakeClock,
  createSeededRandom,
  createStepper,
  type FakeClock,
  type SeededRandom,
  type Stepper,
} from "@xdstp/testing";

import {
  createFederation,
  createSharedServers,
  type Federation,
  type FederationOptions,
  type FederationSource,
} from "../../src/index.ts";
import { AUTHORITIES, SERVERS, type Deed, type TimedDeed } from "./deeds.ts";
import { directWalk, everyWalk, type Look } from "./direct-walk.ts";
import { differenceOf, isBroken, plainOf, textsOf, type Expected } from "./expected.ts";
import { nameOf, payloadOf, type Content, type Place } from "./names.ts";
import { isIn, memberId, memberName, MEMBERS, placeOf, shownOf, textOf } from "./shown.ts";
import type { CreateSupply, Supply } from "./supply.ts";

/** An invariant that does not hold. */
export interface Violation {
  readonly rule: string;
  readonly text: string;
}

/** `undefined`: there is no content. */
type Said = readonly (Content | undefined)[];

interface Watched {
  readonly typeUrl: string;
  readonly name: string;
  readonly place: Place | undefined;
  readonly sides: readonly Place[];
  readonly topic: Topic;
  readonly watcher: { wake(): void };
}

/** The servers of each authority, in order. One row is drawn from the seed. */
const SHAPES: readonly (readonly (readonly number[])[])[] = [
  [[0], [1, 2], [3]],
  [[0], [1, 2], [0]],
  [[0, 1], [1], [2, 3]],
  [[0], [0], [1, 2]],
  [[0, 1, 2], [2], [3]],
  [[0], [1], [2]],
];

/** The mean number of steps of the world between two steps of the wall clock. */
const STEPS_PER_STEP_OF_WALL_TIME = 50;
/** The largest step of the wall clock, in milliseconds. */
const DAY = 86_400_000;

/** A federation, and the cache that it feeds. */
interface Hub {
  readonly federation: Federation;
  readonly cache: Cache;
}

/**
 * A federation over servers with stores, or several federations that share the servers, and the
 * invariants. The same seed and steps result in the same world.
 */
export class ModelWorld {
  readonly clock: FakeClock = createFakeClock();
  readonly servers: readonly Supply[];
  readonly hubs: readonly Hub[];
  violation: Violation | undefined;
  readonly #watched = new Map<string, Watched>();
  /**
   * The contents that each server has sent, by `type name`, the newest last. For a server that
   * replaces another one, there may be several.
   */
  readonly #told = new Map<Supply, Map<string, Said>>();
  /** The texts that each server has sent since it was last reachable again, by `type name`. */
  readonly #saidSince = new Map<Supply, Map<string, string | undefined>>();
  /** All contents that a name may have shown, by `type name`. */
  readonly #led = new Map<string, Set<string>>();
  readonly #sources: readonly (readonly Supply[])[];
  readonly #default: Supply;
  readonly #altOnMissing: boolean;
  readonly #stepper: Stepper;

  /** @param federations - The number of federations */
  constructor(seed: number, create: CreateSupply, federations: number) {
    const random = createSeededRandom(seed).fork(1);
    this.servers = Array.from({ length: SERVERS }, (_, index) =>
      this.#newServer(index, random.fork(index + 10), create),
    );
    this.#sources = random.pick(SHAPES).map((order) => order.map((index) => this.#server(index)));
    this.#default = this.#server(random.pick([0, 3]));
    this.#altOnMissing = random.once(4);
    const sources: FederationSource[] = AUTHORITIES.map((authority, index) => ({
      authorities: [authority],
      servers: this.#sources[index] ?? [],
      reachabilityOnly: random.once(4),
    }));
    const impatient = random.once(4) ? random.pick(AUTHORITIES) : undefined;
    const servers = federations > 1 ? { servers: createSharedServers() } : {};
    this.hubs = Array.from({ length: federations }, () =>
      this.#newHub({
        sources: [...sources, { servers: [this.#default], opaque: true }],
        ...servers,
        clock: this.clock,
        random: () => random.next(),
        altOn: this.#altOnMissing ? "missing" : "unreachable",
        altOnUnreachable: (authority) => authority === impatient,
      }),
    );
    const wallSteps = createSeededRandom(seed).fork(3);
    this.#stepper = createStepper({
      clock: this.clock,
      turn,
      onStep: () => {
        // The wall clock is set, as NTP or an operator does. Timers are not affected.
        if (wallSteps.once(STEPS_PER_STEP_OF_WALL_TIME))
          this.clock.stepWallTime(wallSteps.between(-DAY, DAY));
        for (const watched of this.#watched.values()) this.#look(watched);
        this.#stop();
      },
    });
  }

  async run(deeds: readonly TimedDeed[]): Promise<void> {
    try {
      const begun = this.clock.now();
      for (const { at, deed } of deeds) {
        await this.#stepper.run(Math.max(0, begun + at - this.clock.now()));
        if (deed.kind === "rest") await this.#rest();
        else
          await this.#stepper.act(() => {
            this.#do(deed);
          });
      }
      await this.#rest();
      await this.#leave();
    } catch (error) {
      this.#report(
        "nothing throws",
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      );
    }
    await Promise.all(this.hubs.map(({ cache }) => cache.close()));
    for (const server of this.servers) server.end();
  }

  #report(rule: string, text: string): void {
    this.violation ??= { rule, text };
  }

  #stop(): void {
    if (this.violation !== undefined) throw new Error(this.violation.text);
  }

  #server(index: number): Supply {
    const server = this.servers[index];
    if (server === undefined) throw new RangeError(`there is no server ${index}`);
    return server;
  }

  #newHub(options: FederationOptions): Hub {
    const federation = createFederation(options);
    const cache = createCache({
      clock: this.clock,
      directives: true,
      wildcard: (_, name) => federation.inWildcard(name),
    });
    cache.addFeed(federation);
    return { federation, cache };
  }

  #newServer(index: number, random: SeededRandom, create: CreateSupply): Supply {
    const server = create(index, {
      clock: this.clock,
      random,
      onTold: (typeUrl, name, content) => {
        this.#observe(server, name, `${typeUrl} ${name}`, content);
        this.#saidSince
          .get(server)
          ?.set(`${typeUrl} ${name}`, content && textOf(payloadOf(typeUrl, content).value));
        this.#note();
      },
    });
    this.#told.set(server, new Map());
    this.#saidSince.set(server, new Map());
    return server;
  }

  /**
   * Content that a replacing server has sent while its answers counted stays until an earlier
   * server sends something for the name. Content that it sends later, for another of its names,
   * does not count (seed 20,280).
   */
  #observe(server: Supply, name: string, key: string, content: Content | undefined): void {
    const order = this.#serversOf(placeOf(name)?.authority ?? "");
    const at = order.indexOf(server);
    const told = this.#told.get(server);
    const before = at > 0 ? (told?.get(key) ?? []) : [];
    told?.set(key, [...before.filter((one) => one !== content), content]);
    for (const standIn of at < 0 ? [] : order.slice(at + 1)) {
      const said = this.#told.get(standIn);
      said?.set(key, said.get(key)?.slice(-1) ?? [undefined]);
    }
  }

  #do(deed: Exclude<Deed, { kind: "rest" }>): void {
    switch (deed.kind) {
      case "put":
        this.servers[deed.server]?.put(deed.changes);
        break;
      case "turn":
        this.#forgetSaid(deed.server).turn(deed.state);
        break;
      case "cut":
        this.#forgetSaid(deed.server).cut();
        break;
      case "watch":
        for (const hub of this.#hubsOf(deed.name)) this.#watch(hub, deed);
        break;
      case "unwatch":
        for (const hub of this.#hubsOf(deed.name)) this.#unwatch(keyOf(hub, deed));
    }
  }

  #forgetSaid(index: number): Supply {
    const server = this.#server(index);
    this.#saidSince.get(server)?.clear();
    return server;
  }

  /** Returns the federations that request a name: one of them, or all. */
  #hubsOf(name: string): Iterable<number> {
    const lot = Buffer.from(name).reduce((sum, byte) => sum + byte, 0) % (this.hubs.length + 1);
    return lot < this.hubs.length ? [lot] : this.hubs.keys();
  }

  #watch(
    hub: number,
    { typeUrl, name, place, sides = [] }: Extract<Deed, { kind: "watch" | "unwatch" }>,
  ): void {
    const key = keyOf(hub, { typeUrl, name });
    const topic = this.hubs[hub]?.cache.topic(typeUrl, { name });
    if (topic === undefined || this.#watched.has(key)) return;
    const watched: Watched = {
      typeUrl,
      name,
      place,
      sides,
      topic,
      watcher: {
        wake: () => {
          this.#look(watched);
        },
      },
    };
    this.#watched.set(key, watched);
    topic.watch(watched.watcher);
    this.#note();
  }

  #unwatch(key: string): void {
    const watched = this.#watched.get(key);
    this.#watched.delete(key);
    watched?.topic.unwatch(watched.watcher);
  }

  /** Records, before readers are notified, what all names may show from now on. */
  #note(): void {
    const look = this.#lookIn((server) => this.#told.get(server) ?? new Map<string, Said>());
    const names = new Set([...this.#told.values()].flatMap((told) => [...told.keys()]));
    for (const key of names) {
      const [typeUrl = "", name = ""] = key.split(" ");
      const place = placeOf(name);
      if (place !== undefined) this.#allow(key, everyWalk(look, typeUrl, place), typeUrl);
      else
        this.#allow(
          key,
          [...this.#told.values()].flatMap(
            (told) => told.get(key)?.flatMap((content) => content ?? []) ?? [],
          ),
          typeUrl,
        );
    }
    for (const { typeUrl, name, place, sides } of this.#watched.values()) {
      if (place !== undefined)
        this.#allow(`${typeUrl} ${name}`, everyWalk(look, typeUrl, place), typeUrl);
      for (const id of sides.length > 0 ? MEMBERS : [])
        this.#allow(
          `${typeUrl} ${memberName(sides, id)}`,
          sides.flatMap((side) => everyWalk(look, typeUrl, { ...side, id: memberId(side, id) })),
          typeUrl,
        );
    }
  }

  #allow(key: string, contents: readonly Content[], typeUrl: string): void {
    const led = this.#led.get(key) ?? new Set<string>();
    this.#led.set(key, led);
    for (const content of contents) led.add(textOf(payloadOf(typeUrl, content).value));
  }

  #lookIn(storeOf: (server: Supply) => ReadonlyMap<string, Said>): Look {
    return (typeUrl, { authority, id }) => {
      const index = AUTHORITIES.indexOf(authority as (typeof AUTHORITIES)[number]);
      const name = `xdstp://${authority}/${typeUrl.slice(typeUrl.indexOf("/") + 1)}/${id}`;
      return this.#sources[index]?.flatMap(
        (server) => storeOf(server).get(`${typeUrl} ${name}`) ?? [undefined],
      );
    };
  }

  /** Checks the invariants that hold at any time. */
  #look({ typeUrl, name, topic }: Watched): void {
    for (const entry of topic.members()) {
      const text = shownOf(entry);
      if (text !== undefined && this.#led.get(`${typeUrl} ${entry.name}`)?.has(text) !== true)
        this.#report(
          "a name shows what it has led to",
          `${name}: ${entry.name} = ${text}; it has led to ${[...(this.#led.get(`${typeUrl} ${entry.name}`) ?? ["nothing"])].join(", ")}`,
        );
    }
    if (!name.includes("/pair/*")) return;
    const shown = new Map(
      topic.members().flatMap((entry) => {
        const text = shownOf(entry);
        return text === undefined
          ? []
          : [[placeOf(entry.name.replace(/#.*/, ""))?.id ?? "", text] as const];
      }),
    );
    const texts = new Set(shown.values());
    if (texts.size > 1 && !this.#isHalfBack(typeUrl, shown))
      this.#report(
        "what changes together is seen together",
        `${name} shows ${[...texts].join(" beside ")}`,
      );
  }

  /**
   * Returns true if one server of an authority is reachable again and has sent a part of its
   * resources, each name by itself (C-GRPC-6). The other names still have the contents of another
   * server.
   */
  #isHalfBack(typeUrl: string, shown: ReadonlyMap<string, string>): boolean {
    return this.#sources.some((servers, index) => {
      const keyOfId = (id: string): string =>
        `${typeUrl} ${nameOf(typeUrl, { authority: AUTHORITIES[index] ?? "", id })}`;
      return servers.some((server) => {
        const said = this.#saidSince.get(server) ?? new Map<string, string | undefined>();
        const isOthers = (id: string, text: string): boolean =>
          servers.some(
            (other) =>
              other !== server &&
              this.#told
                .get(other)
                ?.get(keyOfId(id))
                ?.some(
                  (content) =>
                    content !== undefined && textOf(payloadOf(typeUrl, content).value) === text,
                ),
          );
        return (
          [...shown].some(([id, text]) => said.get(keyOfId(id)) === text) &&
          [...shown].every(
            ([id, text]) =>
              said.get(keyOfId(id)) === text || (!said.has(keyOfId(id)) && isOthers(id, text)),
          )
        );
      });
    });
  }

  async #rest(): Promise<void> {
    await this.#stepper.act(() => {
      for (const server of this.servers) server.turn("up");
    });
    for (let waited = 0; ; waited += 10_000) {
      await this.#stepper.run(10_000);
      const differences = this.#differences();
      if (differences.length === 0) return;
      if (waited < 120_000) continue;
      this.#report(
        differences[0]?.startsWith("wanted") === true
          ? "no subscription is left behind"
          : "every watch ends on what a direct walk finds",
        differences.join("\n"),
      );
      this.#stop();
    }
  }

  #differences(): readonly string[] {
    const look = this.#lookIn(
      (server) => new Map([...server.store].map(([key, { content }]) => [key, [content]])),
    );
    const wanted = new Map<Supply | undefined, Set<string>>(
      this.servers.map((server) => [server, new Set<string>()]),
    );
    const ask = (typeUrl: string, authority: string, name: string): void => {
      wanted.get(this.#serverOf(authority))?.add(`${typeUrl} ${name}`);
    };
    const seen = { isUnsure: false };
    const walked = (typeUrl: string, place: Place, isMember = false): Expected => {
      const walk = directWalk(look, typeUrl, place, this.#altOnMissing);
      const other = directWalk(look, typeUrl, place, true);
      const isSilent = other.asked.some(([, { authority }]) =>
        this.#serversOf(authority).some(({ isSilentOfMissing }) => isSilentOfMissing),
      );
      const differs = directWalk(look, typeUrl, place, false).found.state !== other.found.state;
      seen.isUnsure ||= isSilent && (differs || walk.found.state === "missing");
      for (const [type, at] of isMember ? walk.asked.slice(1) : walk.asked)
        ask(
          type,
          at.authority,
          `xdstp://${at.authority}/${type.slice(type.indexOf("/") + 1)}/${at.id}`,
        );
      if (!isSilent || (walk.found.state !== "missing" && !differs)) return [walk.found];
      // If a server sends nothing, an alternative may be used. Cached resources stay, with an
      // error.
      return [
        { state: "missing" },
        { state: "broken" },
        ...everyWalk(look, typeUrl, place).map((content) => ({ state: "held", content }) as const),
      ];
    };
    const wrong = [...this.#watched.values()].flatMap((watched) => {
      const { typeUrl, name, place, topic, sides } = watched;
      if (place !== undefined) return differenceOf(watched, topic, walked(typeUrl, place), typeUrl);
      if (sides.length > 0)
        return this.#differencesInSides(
          watched,
          look,
          (member) => walked(typeUrl, member, true),
          (authority) => {
            ask(typeUrl, authority, nameOf(typeUrl, { authority, id: sides[0]?.id ?? "" }));
          },
        );
      if (!name.endsWith("*")) {
        wanted.get(this.#default)?.add(`${typeUrl} ${name}`);
        return differenceOf(
          watched,
          topic,
          [plainOf(this.#default, `${typeUrl} ${name}`)],
          typeUrl,
        );
      }
      const server = name === "*" ? this.#default : this.#serverOf(placeOf(name)?.authority ?? "");
      wanted.get(server)?.add(`${typeUrl} ${name}`);
      return this.#differencesIn(watched, server, (member) => walked(typeUrl, member, true));
    });
    const hasWildcard = [...this.#watched.values()].some(({ name }) => name === "*");
    const left =
      hasWildcard || seen.isUnsure || wrong.length > 0
        ? []
        : this.servers.flatMap((server) => wantedOf(server, wanted.get(server) ?? new Set()));
    return [...wrong, ...left];
  }

  #differencesIn(
    watched: Watched,
    server: Supply | undefined,
    walk: (member: Place) => Expected,
  ): readonly string[] {
    const { name, topic, typeUrl } = watched;
    if (server === undefined) return [`${name}: nobody answers`];
    const members = [...server.store.values()].filter(
      (stored) => stored.typeUrl === typeUrl && isIn(name, stored.name),
    );
    const held = new Map(
      topic.members().flatMap((entry) => {
        const text = shownOf(entry);
        return text === undefined ? [] : [[entry.name, text] as const];
      }),
    );
    const wrong = members.flatMap((stored) => {
      const place = placeOf(stored.name);
      if (name === "*" && place !== undefined) return [];
      const expected =
        place === undefined ? [plainOf(server, `${typeUrl} ${stored.name}`)] : walk(place);
      const text = held.get(stored.name);
      held.delete(stored.name);
      const texts = textsOf(typeUrl, expected);
      return isBroken(expected) || texts.includes(text)
        ? []
        : [
            `${name}: ${stored.name} is ${text ?? "nothing"}, and should be ${texts[0] ?? "nothing"}`,
          ];
    });
    const surplus =
      name === "*" ? [] : [...held.keys()].map((one) => `${name}: ${one} is held, and has gone`);
    return [...wrong, ...surplus, ...(topic.settled ? [] : [`${name} is not settled`])];
  }

  /**
   * Returns differences for a glob with alternatives. Expected are the members of the first side
   * or, if alternatives count, of the first side that has any, under the names of the first side
   * with all alternatives.
   */
  #differencesInSides(
    { name, topic, typeUrl, sides }: Watched,
    look: Look,
    walk: (member: Place) => Expected,
    ask: (authority: string) => void,
  ): readonly string[] {
    const idsOf = (side: Place): readonly string[] =>
      MEMBERS.filter((id) => look(typeUrl, { ...side, id: memberId(side, id) })?.[0] !== undefined);
    const filled = this.#altOnMissing ? sides.findIndex((side) => idsOf(side).length > 0) : 0;
    const inUse = sides.slice(0, filled < 0 ? sides.length : filled + 1);
    for (const { authority } of inUse) ask(authority);
    const side = inUse.at(-1);
    const held = new Map(
      topic.members().flatMap((entry) => {
        const text = shownOf(entry);
        return text === undefined ? [] : [[entry.name, text] as const];
      }),
    );
    const wrong = (side === undefined ? [] : idsOf(side)).flatMap((id) => {
      const member = memberName(sides, id);
      const expected = side === undefined ? [] : walk({ ...side, id: memberId(side, id) });
      const text = held.get(member);
      held.delete(member);
      const texts = textsOf(typeUrl, expected);
      return isBroken(expected) || texts.includes(text)
        ? []
        : [`${name}: ${member} is ${text ?? "nothing"}, and should be ${texts[0] ?? "nothing"}`];
    });
    return [
      ...wrong,
      ...[...held.keys()].map((one) => `${name}: ${one} is held, and has gone`),
      ...(topic.settled ? [] : [`${name} is not settled`]),
    ];
  }

  #serverOf(authority: string): Supply | undefined {
    return this.#serversOf(authority)[0];
  }

  #serversOf(authority: string): readonly Supply[] {
    return this.#sources[AUTHORITIES.indexOf(authority as (typeof AUTHORITIES)[number])] ?? [];
  }

  async #leave(): Promise<void> {
    await this.#stepper.act(() => {
      for (const key of [...this.#watched.keys()]) this.#unwatch(key);
    });
    await this.#stepper.run(30_000);
    const left = [
      ...this.servers.flatMap((server) => [
        ...server.wanted.map((name) => `${server.name}: ${name} is wanted`),
        ...(server.isOpen ? [`${server.name} is open`] : []),
      ]),
      ...this.hubs.flatMap(
        ({
          federation,
          cache: {
            counters: { resources },
          },
        }) => [
          ...federation.traces().map(({ name }) => `${name} is followed`),
          ...(resources > 0 ? [`${resources} resources are held`] : []),
        ],
      ),
      ...(this.clock.pending > 0 ? [`${this.clock.pending} timers wait`] : []),
    ];
    if (left.length > 0) this.#report("nothing is left after the last reader", left.join("\n"));
  }
}

function keyOf(
  hub: number,
  { typeUrl, name }: { readonly typeUrl: string; readonly name: string },
): string {
  return `${hub} ${typeUrl} ${name}`;
}

function wantedOf(server: Supply, names: ReadonlySet<string>): readonly string[] {
  const now = new Set(server.wanted);
  const more = [...now.difference(names)].map(
    (name) => `wanted of ${server.name}, for nobody: ${name}`,
  );
  return [
    ...more,
    ...[...names.difference(now)].map(
      (name) => `wanted of ${server.name}, and it is not asked: ${name}`,
    ),
  ];
}

/** Waits for as many microtasks as its longest chain of promises has. */
async function turn(): Promise<void> {
  for (let n = 0; n < 12; n++) await Promise.resolve();
}
