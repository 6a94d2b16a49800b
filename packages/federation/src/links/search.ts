import { isLate, XdsError, type Clock, type Interest, type Resource } from "@xdstp/core";
import {
  nameFromLocator,
  printLocator,
  printName,
  typeUrlFromType,
  type Locator,
  type XdstpLocator,
  type XdstpName,
} from "@xdstp/uri";

import {
  type Hop,
  isOutOfReach,
  type LinkedResource,
  linkVersion,
  type Outcome,
  type Step,
} from "./outcome.ts";
import type { Ask, FollowedRedirect, Route } from "../routes/route.ts";
import type { Follower, GlobMember } from "./follower.ts";
import { entryNamed } from "../list/read-list.ts";
import { interestWith } from "../routes/ask.ts";

/** Where a search looks. */
export interface SearchHost {
  /** The servers of an authority. An error: none is known; undefined: not known yet. */
  routeOf(authority: string): Route | XdsError | undefined;
  /** Dynamic parameters of an authority (C-DYN-1). */
  parametersOf(authority: string): ReadonlyMap<string, string> | undefined;
  readonly maxHops: number;
  /** Whether what a live primary says not to exist is looked for at the alternative. */
  readonly altOnMissing: boolean;
  /** Whether an alternative replaces cached resources as soon as its primary cannot be reached (C-ALT-3). */
  altOnUnreachable(authority: string): boolean;
  readonly clock: Clock;
  random(): number;
}

/** The way so far. */
interface Way {
  readonly steps: readonly Step[];
  readonly hops: readonly Hop[];
  readonly redirects: number;
  readonly seen: readonly string[];
}

/** Up to this number of names are subscribed on the way to one, or read again: a server must not make a client do more. */
const MAX_ASKS = 32;

const NONE: readonly never[] = [];

/** Follows a locator as far as it leads, from what is known. What has to be asked for on the way is in `asks`. */
export class Search {
  readonly asks: Set<Ask> = new Set<Ask>();
  /** When it has to be looked at again though nothing has changed. */
  until: number;
  /** Authorities on the way without known servers, or not yet known ones. */
  unknown: readonly string[] = NONE;
  readonly #host: SearchHost;
  readonly #follower: Follower;
  /** How many names have been looked at: alternatives that each lead on to the same ones would multiply. */
  #looks = 0;

  constructor(host: SearchHost, follower: Follower) {
    this.#host = host;
    this.#follower = follower;
    this.until = Infinity;
  }

  run(): Outcome {
    const { typeUrl, start } = this.#follower;
    const way: Way = { steps: [], hops: [], redirects: 0, seen: [] };
    if ("side" in start) return this.#member(start);
    if (!("route" in start)) return this.#locator(typeUrl, start, way);
    const redirect = start.route.redirect(typeUrl, start.key);
    if (redirect === undefined) return { state: "pending", hops: [] };
    return this.#redirected(redirect, { ...way, seen: [`${typeUrl}\n${start.key}`] });
  }

  /** Its glob is subscribed, so it need not be. A name that is concluded from silence to be missing is not a member, as in a glob without alternatives. */
  #member({ ask, steps, hops }: GlobMember): Outcome {
    const { route, typeUrl, key } = ask;
    this.asks.add(ask);
    route.asks.follow(ask, this.#follower);
    const found = this.#at(ask, key, { steps, hops, redirects: 0, seen: [`${typeUrl}\n${key}`] });
    const isOwn = route.redirect(typeUrl, key) === undefined;
    return isOwn && found.state === "unreachable" && found.isSilence === true
      ? { ...found, state: "missing" }
      : found;
  }

  #redirected({ typeUrl, key, version, target }: FollowedRedirect, way: Way): Outcome {
    const { redirects, steps, hops } = way;
    return this.#locator(typeUrl, target, {
      ...way,
      redirects: redirects + 1,
      steps: [...steps, { name: key, version }],
      hops: [...hops, { kind: "redirect", to: printLocator(target) }],
    });
  }

  #locator(typeUrl: string, locator: XdstpLocator, way: Way): Outcome {
    const primary = this.#primary(typeUrl, locator, way);
    const alt = locator.directives.find(({ kind }) => kind === "alt");
    return alt?.kind === "alt"
      ? this.#either(typeUrl, locator, alt.locator, primary, way)
      : primary;
  }

  #primary(typeUrl: string, locator: XdstpLocator, way: Way): Outcome {
    const entry = locator.directives.find(({ kind }) => kind === "entry");
    const name = nameFromLocator(locator);
    if (entry?.kind !== "entry") return this.#name(typeUrl, name, way);
    const hops = [...way.hops, { kind: "entry" as const, to: printName(name) }];
    const list = this.#name(typeUrlFromType(locator.resourceType), name, {
      ...way,
      steps: [
        ...way.steps,
        { name: printLocator({ ...locator, directives: [entry] }), version: "" },
      ],
      hops,
    });
    return list.state === "held" ? entryOf(list, entry.entry, locator, way) : list;
  }

  /** The alternative while the primary cannot be had (C-ALT-2), and for a while after (C-ALT-4). */
  #either(
    typeUrl: string,
    locator: XdstpLocator,
    alt: Locator,
    primary: Outcome,
    way: Way,
  ): Outcome {
    const to = printLocator(alt);
    const choice = this.#follower.choice(`${way.hops.length} ${printLocator(locator)}`);
    const shows = choice.onAlt ? this.#follower.shows : primary.state === "held";
    this.until = Math.min(
      this.until,
      choice.decide(
        this.#callsForAlt(primary, locator.authority),
        shows,
        this.#host.clock.now(),
        () => this.#host.random(),
      ),
    );
    if (!choice.onAlt || alt.scheme !== "xdstp") return primary;
    const found = this.#locator(typeUrl, alt, {
      ...way,
      steps: [...way.steps, { name: printName(nameFromLocator(locator)), version: "alt" }],
      hops: [...way.hops, { kind: "alt", to }],
    });
    if (found.state === "held" || primary.state === "held")
      return found.state === "held" ? found : primary;
    if (primary.state === "pending") return primary;
    return found.state === "pending" ? found : neither(primary, found);
  }

  /** undefined: nothing is known yet. */
  #callsForAlt(primary: Outcome, authority: string): boolean | undefined {
    if (primary.state === "pending") return undefined;
    if (primary.state === "held") return primary.isLost && this.#host.altOnUnreachable(authority);
    // What came was rejected: that is an answer, and no resource to go back to.
    if (primary.state === "unreachable") return primary.isLost ? true : undefined;
    return primary.state === "missing" && this.#host.altOnMissing;
  }

  #name(typeUrl: string, name: XdstpName, way: Way): Outcome {
    const text = printName(name);
    const key = `${typeUrl}\n${text}`;
    const { hops } = way;
    if (way.seen.includes(key))
      return broken(`${chain(way, text)}: the redirects go in a circle`, hops, "C-REDIR-4");
    if (way.redirects > this.#host.maxHops)
      return broken(
        `${chain(way, text)}: more than ${this.#host.maxHops} redirects`,
        hops,
        "C-REDIR-4",
      );
    const route = this.#host.routeOf(name.authority);
    if (route === undefined || route instanceof XdsError)
      this.unknown = [...this.unknown, name.authority];
    if (route === undefined) return { state: "pending", hops };
    if (route instanceof XdsError)
      return broken(
        way.hops.length === 0 ? route.text : `${chain(way, text)}: ${route.text}`,
        hops,
        route.context.rule,
      );
    return this.#there(route, typeUrl, name, text, { ...way, seen: [...way.seen, key] });
  }

  #there(route: Route, typeUrl: string, name: XdstpName, text: string, way: Way): Outcome {
    const { hops } = way;
    const ask = this.#ask(route, typeUrl, name, text, hops);
    if (++this.#looks > MAX_ASKS)
      return broken(
        `${chain(way, text)}: more than ${MAX_ASKS} names would have to be asked for`,
        hops,
      );
    return this.#at(ask, text, way);
  }

  #at(ask: Ask, text: string, way: Way): Outcome {
    const redirect = ask.route.redirect(ask.typeUrl, ask.key);
    return redirect === undefined ? answerOf(ask, way, text) : this.#redirected(redirect, way);
  }

  #ask(
    route: Route,
    typeUrl: string,
    { authority }: XdstpName,
    text: string,
    hops: readonly Hop[],
  ): Ask {
    const [first, ...others] =
      hops.length === 0
        ? this.#follower.asked.map(({ parameters }) => parameters)
        : [this.#host.parametersOf(authority)];
    for (const parameters of others) this.#askWith(parameters, route, typeUrl, text, authority);
    return this.#askWith(first, route, typeUrl, text, authority);
  }

  /** What comes of a name comes of all that ask for it, with whatever parameters: any of them has the answer. */
  #askWith(
    parameters: Interest["parameters"],
    route: Route,
    typeUrl: string,
    text: string,
    authority: string,
  ): Ask {
    const ask = route.asks.open(typeUrl, interestWith(text, parameters), authority);
    route.asks.follow(ask, this.#follower);
    this.asks.add(ask);
    return ask;
  }
}

function answerOf(ask: Ask, { steps, hops }: Way, text: string): Outcome {
  const { route, typeUrl, kept, missing, unavailable } = ask;
  const failure = route.failureOf(typeUrl);
  const stale = unavailable?.error ?? failure;
  const isLost =
    failure !== undefined || (unavailable !== undefined && isOutOfReach(unavailable.error));
  if (kept.size > 0)
    return {
      state: "held",
      hops,
      stale,
      isLost,
      ask,
      resources: Array.from(kept, ({ resource }) => linked(resource, steps, text)),
    };
  if (missing !== undefined && (stale === undefined || !ask.expired))
    return isLate(missing)
      ? { state: "unreachable", error: missing, isLost: true, isSilence: true, hops }
      : { state: "missing", error: missing, hops };
  return stale === undefined
    ? { state: "pending", hops }
    : { state: "unreachable", error: stale, isLost, hops };
}

function linked(resource: Resource, steps: readonly Step[], text: string): LinkedResource {
  return {
    resource,
    version: steps.length === 0 ? resource.version : linkVersion(steps, text, resource),
  };
}

function entryOf(
  list: Outcome & { readonly state: "held" },
  entry: string,
  locator: XdstpLocator,
  { steps, hops }: Way,
): Outcome {
  const name = printLocator({ ...locator, directives: [{ kind: "entry", entry }] });
  const listName = printName(nameFromLocator(locator));
  const found = list.resources.flatMap(({ resource }) => entryNamed(resource, entry) ?? []);
  const fault = found.find((one) => "text" in one);
  if (fault !== undefined)
    return {
      state: "broken",
      hops,
      blame: { ask: list.ask, version: list.resources.map(({ version }) => version).join("\n") },
      error: new XdsError(
        "INVALID_ARGUMENT",
        `the list ${listName} cannot be read: ${fault.text}`,
        {
          resource: listName,
          rule: fault.rule,
        },
      ),
    };
  // Not over the version of the list, which changes with each of its entries (C-LIST-6).
  const way = [...steps, ...list.hops.map(({ to }) => ({ name: to, version: "" }))];
  const resources = found
    .flatMap((one) => ("text" in one ? [] : [one]))
    .map((resource) => ({ resource, version: linkVersion(way, name, resource) }));
  if (resources.length > 0) return { ...list, resources };
  return {
    state: "missing",
    hops,
    error: new XdsError(
      "NOT_FOUND",
      `the list ${listName} has no inline entry ${JSON.stringify(entry)}`,
      { resource: name, reason: "no-entry", rule: "C-LIST-7" },
    ),
  };
}

function broken(text: string, hops: readonly Hop[], rule?: string): Outcome {
  return { state: "broken", error: new XdsError("FAILED_PRECONDITION", text, { rule }), hops };
}

/** It is missing where both servers say so; else no server that could answer is reachable. */
function neither(primary: Outcome, found: Outcome): Outcome {
  const both = [primary, found];
  const why = both.map((outcome) => ("error" in outcome ? outcome.error.text : ""));
  const state =
    primary.state === "missing" && found.state !== "unreachable" ? "missing" : "unreachable";
  const areLate = both.every((outcome) => outcome.state !== "unreachable" || isLate(outcome.error));
  const error = new XdsError(
    state === "missing" ? "NOT_FOUND" : "UNAVAILABLE",
    `${why[0]}; its alternative: ${why[1]}`,
    { reason: state === "missing" ? "no-alternative" : areLate ? "late" : undefined },
  );
  return {
    ...(state === "missing" ? { state } : { state, isLost: true }),
    error,
    hops: primary.hops,
  };
}

function chain({ steps }: Way, text: string): string {
  return [...steps.map(({ name }) => name), text].join(" -> ");
}
