import {
  type ByteStream,
  type ByteStreamHandler,
  type PeerIdentity,
  type Status,
  StatusCode,
} from "@xdstp/core";
import type { ServerCall } from "@xdstp/protocol/server";
import type { Admission } from "./admission.ts";
import { admitStream, type EndableHandler } from "./admitted-stream.ts";
import type { EventHub } from "./server-event.ts";
import type { GuardedStream, OpenStreams } from "./open-streams.ts";
import type { StreamMethod } from "./method-table.ts";
import { rootOf, type Access } from "./access/access-book.ts";
import type { Rejection } from "./access/access-decider.ts";
import { authorizeStream } from "./access/authorized-stream.ts";
import type { ServerAccess } from "./access/create-access.ts";

/** Accepts or rejects a streaming call. `identity` is the identity that the wire has verified. */
export type AcceptStream = (
  path: string,
  peer: string,
  out: ByteStream,
  identity?: PeerIdentity,
) => ByteStreamHandler | Status;

/** Options of {@link createStreamAcceptor}. */
export interface AcceptorOptions {
  readonly methods: ReadonlyMap<string, StreamMethod>;
  readonly access: ServerAccess;
  readonly admission: Admission;
  readonly streams: OpenStreams;
  readonly hub: EventHub;
}

const unknownMethod: Status = { code: StatusCode.UNIMPLEMENTED, message: "unknown method" };
const broken: Status = { code: StatusCode.INTERNAL, message: "internal error" };

/** Returns a function that serves the streaming methods of a server over any wire. */
export function createStreamAcceptor(options: AcceptorOptions): AcceptStream {
  const {
    methods,
    access: { gate },
    admission,
    hub,
  } = options;
  const accept: AcceptStream = (path, peer, out, identity) => {
    const method = methods.get(path);
    if (method === undefined) return unknownMethod;
    const rejection = gate.rejection();
    if (rejection !== undefined) return rejection;
    const open = openerOf(options, { path, peer, method, identity });
    return admitStream(admission, out, open);
  };
  return (path, peer, out, identity) => {
    const answer = guarded(() => accept(path, peer, out, identity), hub);
    if ("code" in answer) hub.emit?.({ kind: "rejected", path, peer, status: answer });
    return answer;
  };
}

interface Called {
  readonly path: string;
  readonly peer: string;
  readonly method: StreamMethod;
  readonly identity: PeerIdentity | undefined;
}

/**
 * Returns a function that opens a call: at once, or after the decision about what its client may
 * see.
 */
function openerOf(
  { access: { source, contexts, decider, book, limits }, streams, hub }: AcceptorOptions,
  { path, peer, method, identity }: Called,
): (out: ByteStream) => EndableHandler {
  const { variant, typeUrl } = method;
  const verified = identity === undefined ? {} : { identity };
  const call: ServerCall = { peer, ...(typeUrl === undefined ? {} : { typeUrl }), ...verified };
  if (decider === undefined)
    return (out) => streams.add(contexts.endsOf(source)[variant].open(call, out), out);
  const host = {
    decider,
    limits,
    waiting: book.waiting,
    fault: hub.fault,
    open(access: Access, out: ByteStream): GuardedStream {
      const served = contexts
        .endsOf(rootOf(access.root))
        [variant].open(call, out, contexts.of(access.source));
      book.note(served, access);
      return streams.add(served, out);
    },
    rejected({ status, reason }: Rejection): void {
      hub.emit?.({ kind: "rejected", path, peer, status, reason });
    },
  };
  return (out) =>
    authorizeStream(host, { peer: { address: peer, path, ...verified }, variant }, out);
}

function guarded(
  accept: () => ByteStreamHandler | Status,
  hub: EventHub,
): ByteStreamHandler | Status {
  try {
    return accept();
  } catch (error) {
    hub.fault("accept", error);
    return broken;
  }
}
