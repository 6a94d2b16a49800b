import { type Interest, isSameError, type Resource, type Scope, XdsError } from "@xdstp/core";

import {
  type FollowedState,
  followSwitchable,
  type SwitchableResource,
} from "./follow-resource.ts";
import type { HttpFeedOptions } from "./http-feed-options.ts";
import { readPayload } from "./read-payload.ts";
import { urlOfName } from "./url-of-name.ts";

/** The state of one subscribed name. */
export interface FollowedNameStatus {
  /** The type URL under which it is subscribed. */
  readonly typeUrl: string;
  /** The name, as the subscriber spells it. */
  readonly name: string;
  /** The URL that is requested. Absent: the name cannot be requested over HTTP. */
  readonly url?: string;
  /**
   * `pending`: nothing is known yet. `present`: the server has the resource. `missing`: it does not.
   */
  readonly state: "pending" | "present" | "missing";
  /** The version of the resource, if it is present. */
  readonly version?: string;
  /** The reason why requests fail, or why the resource was rejected. Absent: neither. */
  readonly error?: XdsError;
  /** HTTP has no ACK: the server does not learn that a resource was accepted or rejected (B-HTTP-12). */
  readonly acknowledged: "not reported over HTTP";
}

/** The reason why the newest content is not used; the resource before it stays. */
type Fault =
  /** It is not a message of its type. */
  | { readonly kind: "unreadable"; readonly error: XdsError }
  /** The sink, which knows this, has rejected it. */
  | { readonly kind: "rejected"; readonly error: XdsError };

/** A change of a name, for the sink. */
type Change =
  | { readonly kind: "put"; readonly resource: Resource }
  | { readonly kind: "remove"; readonly error: XdsError }
  | Extract<Fault, { readonly kind: "unreadable" }>;

/**
 * The way to the resource.
 *
 * ```
 * impossible
 * waiting ──start──► followed
 * ```
 */
type Way =
  | { readonly kind: "impossible"; readonly error: XdsError }
  | { readonly kind: "waiting"; readonly url: string }
  | { readonly kind: "followed"; readonly url: string; readonly resource: SwitchableResource };

/** The outcome of the newest request for a name. */
type Reach =
  | Extract<Way, { readonly kind: "impossible" | "waiting" }>
  /** The first request is not answered yet. */
  | { readonly kind: "asking" }
  | { readonly kind: "answered" }
  | { readonly kind: "failing"; readonly error: XdsError };

/** A subscribed name, and the answers of its server. */
export class FollowedName {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly #options: HttpFeedOptions;
  readonly #onNews: () => void;
  #way: Way;
  #isLong = false;
  /** The state that the sink has. */
  #given: FollowedState = { kind: "unknown", error: undefined };
  #fault: Fault | undefined;
  #reported: XdsError | undefined;

  constructor(typeUrl: string, interest: Interest, options: HttpFeedOptions, onNews: () => void) {
    this.typeUrl = typeUrl;
    this.interest = interest;
    this.#options = options;
    this.#onNews = onNews;
    this.#way = wayTo(typeUrl, interest, options);
  }

  /** The outcome of the newest request. */
  get reach(): Reach {
    if (this.#way.kind !== "followed") return this.#way;
    const state = this.#way.resource.state;
    if (state.kind === "missing") return { kind: "answered" };
    if (state.error !== undefined) return { kind: "failing", error: state.error };
    return { kind: state.kind === "found" ? "answered" : "asking" };
  }

  /**
   * Begins to follow it, or goes on in the other way.
   * @param longPoll - false: it is requested every `refreshMs`
   */
  start(longPoll: boolean): void {
    this.#isLong = longPoll;
    if (this.#way.kind === "followed") this.#way.resource.askNow();
    if (this.#way.kind !== "waiting") return;
    const { url } = this.#way;
    const { events, headers, refreshMs, answerMs, answerBytes, fetch, clock, random } =
      this.#options;
    const resource = followSwitchable(
      {
        url,
        form: "protobuf",
        longPoll: () => this.#isLong,
        ...(events !== undefined && { events }),
        ...(headers !== undefined && { headers }),
        ...(refreshMs !== undefined && { refreshMs }),
        ...(answerMs !== undefined && { answerMs }),
        ...(answerBytes !== undefined && { answerBytes }),
        ...(fetch !== undefined && { fetch }),
        ...(clock !== undefined && { clock }),
        ...(random !== undefined && { random }),
      },
      this.#onNews,
    );
    this.#way = { kind: "followed", url, resource };
  }

  close(): void {
    if (this.#way.kind === "followed") this.#way.resource.close();
  }

  /** Records that the sink has rejected the resource. */
  reject(error: XdsError): void {
    this.#fault = { kind: "rejected", error };
  }

  /** Returns the change since the last call. undefined: there is none. */
  takeChange(): Change | undefined {
    const state = this.#state;
    const given = this.#given;
    if (state.kind === "unknown" || isSameContent(state, given)) return undefined;
    this.#given = state;
    this.#fault = undefined;
    if (state.kind === "missing") return { kind: "remove", error: state.error };
    try {
      return { kind: "put", resource: this.#resourceOf(state) };
    } catch (error) {
      this.#fault = { kind: "unreadable", error: this.#about(XdsError.from(error)) };
      return this.#fault;
    }
  }

  /** Returns the error to report for the name, if it is another one than before. */
  takeTrouble(): { readonly scope: Scope; readonly error: XdsError | undefined } | undefined {
    const unreadable = this.#fault?.kind === "unreadable" ? this.#fault.error : undefined;
    const error = this.#failure ?? unreadable;
    if (isSameError(error, this.#reported)) return undefined;
    this.#reported = error;
    return { scope: { typeUrl: this.typeUrl, interest: this.interest }, error };
  }

  /** Lets the present error count as one that was not reported. */
  forgetTrouble(): void {
    this.#reported = undefined;
  }

  status(): FollowedNameStatus {
    const { typeUrl, interest } = this;
    const state = this.#state;
    const error = this.#failure ?? this.#fault?.error;
    return {
      typeUrl,
      name: interest.name,
      ...(this.#way.kind !== "impossible" && { url: this.#way.url }),
      state: states[state.kind],
      ...(state.kind === "found" && { version: state.version }),
      ...(error !== undefined && { error }),
      acknowledged: "not reported over HTTP",
    };
  }

  get #failure(): XdsError | undefined {
    const { reach } = this;
    return "error" in reach ? reach.error : undefined;
  }

  get #state(): FollowedState {
    return this.#way.kind === "followed"
      ? this.#way.resource.state
      : { kind: "unknown", error: undefined };
  }

  #resourceOf(state: Extract<FollowedState, { readonly kind: "found" }>): Resource {
    return {
      name: this.interest.name,
      version: state.version,
      payload: readPayload(this.typeUrl, state, this.#options.registry),
      ...(state.ttlMs !== undefined && { ttlMs: state.ttlMs }),
    };
  }

  #about({ code, text, context }: XdsError): XdsError {
    const { typeUrl, interest } = this;
    const url = this.#way.kind === "impossible" ? "" : `GET ${this.#way.url}: `;
    return new XdsError(code, `${url}${text}`, { ...context, typeUrl, resource: interest.name });
  }
}

const states = { unknown: "pending", found: "present", missing: "missing" } as const;

function wayTo(typeUrl: string, interest: Interest, { origin }: HttpFeedOptions): Way {
  const { name, parameters } = interest;
  try {
    if (parameters !== undefined && parameters.size > 0)
      throw new XdsError(
        "UNIMPLEMENTED",
        `${JSON.stringify(name)} has dynamic parameters, which HTTP does not have; use context parameters of the name`,
        { typeUrl, resource: name, rule: "S-HTTP-13" },
      );
    return { kind: "waiting", url: urlOfName(typeUrl, name, origin ?? httpsOrigin) };
  } catch (error) {
    return { kind: "impossible", error: XdsError.from(error) };
  }
}

function httpsOrigin(authority: string | null): string | undefined {
  return authority === null || authority === "" ? undefined : `https://${authority}`;
}

/** Returns true if two states have the same content; errors do not count. */
function isSameContent(one: FollowedState, other: FollowedState): boolean {
  if (one.kind !== "found" || other.kind !== "found") return one.kind === other.kind;
  return one.version === other.version && one.body === other.body;
}
