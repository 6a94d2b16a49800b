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

/** The parts of a federation that a search uses. */
export interface SearchHost {
  /**
   * Returns the route of an authority, an error if no server is known, or `undefined` if this is
   * not known yet.
   */
  routeOf(authority: string): Route | XdsError | undefined;
  /** Returns the dynamic parameters of an authority (C-DYN-1). */
  parametersOf(authority: string): ReadonlyMap<string, string> | undefined;
  readonly maxHops: number;
  /**
   * True if the alternative is also used when a reachable primary reports that the resource does
   * not exist.
   */
  readonly altOnMissing: boolean;
  /**
   * Returns true if the alternative replaces cached resources as soon as the primary is unreachable
   * (C-ALT-3).
   */
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

/**
 * The maximum number of names that one search requests or reads. It limits the work that a server
 * can cause at a client.
 */
const MAX_ASKS = 32;

const NONE: readonly never[] = [];

/**
 * Follows a locator as far as it leads, using what is known. The subscriptions that are needed on
 * the way are in `asks`.
 */
export class Search {
  readonly asks: Set<Ask> = new Set<Ask>();
  /** The time at which the search has to be repeated even without a change. */
  until: number;
  /** Authorities on the way whose servers are not known, or not known yet. */
  unknown: readonly string[] = NONE;
  readonly #host: SearchHost;
  readonly #follower: Follower;
  /**
   * The number of names that were read. It is limited, since alternatives that all lead to the same
   * names would multiply.
   */
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

  /**
   * Returns the outcome for a member of a glob. The glob is subscribed, so the member need not be.
   * A member that the server has not sent in time is missing, as in a glob without alternatives.
   */
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

  /**
   * Returns the alternative while the primary is unavailable (C-ALT-2), and for a minimum time
   * after that (C-ALT-4).
   */
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

  /**
   * Returns true if the alternative should be used, and `undefined` if there is no new information.
   */
  #callsForAlt(primary: Outcome, authority: string): boolean | undefined {
    if (primary.state === "pending") return undefined;
    if (primary.state === "held") return primary.isLost && this.#host.altOnUnreachable(authority);
    // A rejection is an answer, and gives no resource to return to.
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

  /**
   * Subscribes with one set of parameters. A resource of the name reaches all its subscriptions, so
   * any of them has the answer.
   */
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
  // Does not use the version of the list, which changes with each of its entries (C-LIST-6).
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

/**
 * Returns the outcome if neither the primary nor the alternative has the resource. It is missing if
 * both servers report that; otherwise no server that could answer is reachable.
 */
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
