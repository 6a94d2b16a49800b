import { type StoredResource, XdsError } from "@xdstp/core";

import { refreshMsOf } from "./cache-control.ts";
import { type FollowedName, type NameState, versionOf } from "./followed-names.ts";

/** The form of content in events. */
export type EventForm = "json" | "protobuf";

/** The options of {@link eventsOf}. */
export interface EventStreamOptions {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** The id of the last event that the client has seen. Absent: it has seen none. */
  readonly lastId: string | undefined;
  /** Milliseconds without a change after which a comment is sent. */
  readonly commentMs: number;
  readonly form: EventForm;
  /** Returns the content of a resource in the form. */
  readonly write: (resource: StoredResource) => Uint8Array;
  /** Returns where a redirect leads. `undefined`: the resource is not a redirect. */
  readonly redirectOf: (resource: StoredResource) => string | undefined;
}

/** Events that were encoded, so that all clients in the same state are sent the same bytes. */
const encoded: Readonly<Record<EventForm, WeakMap<NameState, Uint8Array>>> = {
  json: new WeakMap(),
  protobuf: new WeakMap(),
};

/**
 * Creates the Server-Sent Events of a name. The next event is created when the one before was
 * taken, from the newest state: a slow client skips states, and nothing is queued for it.
 *
 * Events are `resource` with `{ version, resource }`, `redirect` with `{ version, location }`,
 * `missing` and `failure` with `{ code, message }`. In protobuf, `resource` is `protobuf`, in base64.
 * A resource with a TTL has `ttl` in seconds, one with `do_not_cache` has `noStore`. The id of an
 * event is its position.
 *
 * A comment says that the state is unchanged. It comes at once to a client that has the state, and
 * often enough that no TTL expires. It also makes proxies keep the connection (B-HTTP-15).
 */
export async function* eventsOf(
  followed: FollowedName,
  options: EventStreamOptions,
): AsyncGenerator<Uint8Array, void> {
  const { signal, lastId, commentMs, form } = options;
  let sent = lastId;
  let isFirst = true;
  while (!signal.aborted) {
    const { state } = followed;
    if (state.kind !== "unknown" && idOf(state) !== sent) {
      sent = idOf(state);
      yield encoded[form].get(state) ?? encode(state, options);
    } else if (isFirst) yield comment;
    else {
      const ttlMs = state.kind === "found" ? state.resource.ttlMs : undefined;
      const ms = Math.min(commentMs, Math.max(LEAST_GAP, refreshMsOf(ttlMs)));
      const next = await followed.wait((now) => now === state, ms, signal);
      if (next === state && !hasEnded(signal)) yield comment;
    }
    isFirst = false;
  }
}

/** A function, since TypeScript assumes that the value does not change. */
function hasEnded({ aborted }: AbortSignal): boolean {
  return aborted;
}

/** The shortest time between two comments, in milliseconds. */
const LEAST_GAP = 100;

const comment = new TextEncoder().encode(":\n\n");

type KnownState = Exclude<NameState, { readonly kind: "unknown" }>;

function idOf(state: KnownState): string {
  return `${encodeURIComponent(versionOf(state))}@${state.position}`;
}

function encode(state: KnownState, options: EventStreamOptions): Uint8Array {
  const { event, data } = contentOf(state, options);
  const bytes = new TextEncoder().encode(`event: ${event}\nid: ${idOf(state)}\ndata: ${data}\n\n`);
  encoded[options.form].set(state, bytes);
  return bytes;
}

/** JSON has no line breaks outside of its texts, and escapes those inside, so it is one line. */
function contentOf(
  state: KnownState,
  { form, write, redirectOf }: EventStreamOptions,
): { readonly event: string; readonly data: string } {
  if (state.kind === "missing")
    return { event: "missing", data: errorOf(state.error ?? new XdsError("NOT_FOUND", "missing")) };
  const { resource } = state;
  const version = JSON.stringify(resource.version);
  try {
    const location = redirectOf(resource);
    if (location !== undefined)
      return {
        event: "redirect",
        data: `{"version":${version},"location":${JSON.stringify(location)}}`,
      };
    const { ttlMs, noStore = false } = resource;
    const facts = [
      `"version":${version}`,
      ...(ttlMs === undefined ? [] : [`"ttl":${ttlMs / 1_000}`]),
      ...(noStore ? ['"noStore":true'] : []),
    ];
    const content = Buffer.from(write(resource));
    const text =
      form === "json"
        ? `"resource":${content.toString()}`
        : `"protobuf":"${content.toString("base64")}"`;
    return { event: "resource", data: `{${[...facts, text].join(",")}}` };
  } catch (error) {
    return { event: "failure", data: errorOf(XdsError.from(error)) };
  }
}

function errorOf({ code, text }: XdsError): string {
  return JSON.stringify({ code, message: text });
}
