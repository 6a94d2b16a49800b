import { type StoredResource, XdsError } from "@xdstp/core";

import { type FollowedName, type NameState, versionOf } from "./followed-names.ts";

/** The options of {@link eventsOf}. */
export interface EventStreamOptions {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** The id of the last event that the client has seen. Absent: it has seen none. */
  readonly lastId: string | undefined;
  /** Milliseconds without a change after which a comment is sent, so that proxies keep the connection. */
  readonly commentMs: number;
  /** Returns the content of a resource as JSON. */
  readonly write: (resource: StoredResource) => Uint8Array;
  /** Returns where a redirect leads. `undefined`: the resource is not a redirect. */
  readonly redirectOf: (resource: StoredResource) => string | undefined;
}

/** Events that were encoded, so that all clients in the same state are sent the same bytes. */
const encoded = new WeakMap<NameState, Uint8Array>();

/**
 * Creates the Server-Sent Events of a name. The next event is created when the one before was
 * taken, from the newest state: a slow client skips states, and nothing is queued for it.
 *
 * Events are `resource` with `{ version, resource }`, `redirect` with `{ version, location }`,
 * `missing` and `failure` with `{ code, message }`. The id of an event is its position.
 */
export async function* eventsOf(
  followed: FollowedName,
  { signal, lastId, commentMs, write, redirectOf }: EventStreamOptions,
): AsyncGenerator<Uint8Array, void> {
  let sent = lastId;
  while (!signal.aborted) {
    const { state } = followed;
    if (state.kind !== "unknown" && idOf(state) !== sent) {
      sent = idOf(state);
      yield encoded.get(state) ?? remember(state, encode(state, write, redirectOf));
      continue;
    }
    const next = await followed.wait((now) => now === state, commentMs, signal);
    if (next === state && !hasEnded(signal)) yield comment;
  }
}

/** A function, since TypeScript assumes that the value does not change. */
function hasEnded({ aborted }: AbortSignal): boolean {
  return aborted;
}

const comment = new TextEncoder().encode(":\n\n");

type KnownState = Exclude<NameState, { readonly kind: "unknown" }>;

function idOf(state: KnownState): string {
  return `${encodeURIComponent(versionOf(state))}@${state.position}`;
}

function remember(state: NameState, bytes: Uint8Array): Uint8Array {
  encoded.set(state, bytes);
  return bytes;
}

function encode(
  state: KnownState,
  write: EventStreamOptions["write"],
  redirectOf: EventStreamOptions["redirectOf"],
): Uint8Array {
  const { event, data } = contentOf(state, write, redirectOf);
  return new TextEncoder().encode(`event: ${event}\nid: ${idOf(state)}\ndata: ${data}\n\n`);
}

/** JSON has no line breaks outside of its texts, and escapes those inside, so it is one line. */
function contentOf(
  state: KnownState,
  write: EventStreamOptions["write"],
  redirectOf: EventStreamOptions["redirectOf"],
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
    const json = new TextDecoder().decode(write(resource));
    return { event: "resource", data: `{"version":${version},"resource":${json}}` };
  } catch (error) {
    return { event: "failure", data: errorOf(XdsError.from(error)) };
  }
}

function errorOf({ code, text }: XdsError): string {
  return JSON.stringify({ code, message: text });
}
