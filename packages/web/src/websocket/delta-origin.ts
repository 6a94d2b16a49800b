import {
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  StatusCode,
  XdsError,
} from "@xdstp/core";
import { createClientContext } from "@xdstp/protocol/client";
import { createDeltaNameClient } from "@xdstp/transport-delta/client";
import { isGlob, nameKey, typeOf } from "@xdstp/uri";

import type { ResourceOrigin } from "../resource-origin.ts";
import { FollowedName } from "./followed-name.ts";
import { FollowedNames } from "./followed-names.ts";

/** Options of {@link createDeltaOrigin}. */
export interface DeltaOriginOptions {
  /** The server, as the keys of stored resources name it. */
  readonly server: string;
  /** Opens a call. An exception is a failure of the call. */
  readonly open: (handler: ByteStreamHandler) => ByteStream;
  /** The encoded node. */
  readonly node: Uint8Array;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds for the answer to a subscription. */
  readonly answerMs: number;
}

/** Milliseconds from one confirmation of what is current to the next. */
const CONFIRM = 30_000;

/** Follows all resources over one stream of the delta variant at a time. */
export function createDeltaOrigin(options: DeltaOriginOptions): ResourceOrigin {
  const { server, open, node, clock, random, answerMs } = options;
  const names = new FollowedNames();
  const ended = new AbortController();
  let stream: ByteStream | undefined;
  const feed = createDeltaNameClient(
    createClientContext({
      connect: (handler) => (stream = openStream(open, handler)),
      node,
      clock,
      random,
      fetchMs: answerMs,
      // The default must not replace the last state only because a server is slow.
      timeoutIsTransient: true,
    }),
  );
  void feed.run(names, ended.signal);
  const confirm = (): void => {
    if (ended.signal.aborted) return;
    if (stream?.opening === false) names.confirm();
    clock.after(CONFIRM, confirm);
  };
  confirm();
  return {
    locate({ typeUrl, form }, name) {
      checkRequest(form, name);
      return {
        key: `${server} ${typeUrl} ${nameKey(name)}`,
        label: name,
        follow(follower) {
          const interests = [{ name }];
          const followed = new FollowedName({
            clock,
            typeUrl,
            name,
            follower,
            outage: () => names.outage,
            onClose() {
              names.delete(followed);
              later(() => {
                feed.want(typeUrl, [], interests);
              });
            },
          });
          names.add(followed);
          later(() => {
            feed.want(typeUrl, interests, []);
          });
          return followed;
        },
      };
    },
    close() {
      later(() => {
        ended.abort();
      });
    },
  };
}

/** Calls back after the response that is read at present: a listener of it may have caused the call. */
const later = queueMicrotask;

function openStream(open: DeltaOriginOptions["open"], handler: ByteStreamHandler): ByteStream {
  try {
    return open(handler);
  } catch (error) {
    handler.onClosed({ code: StatusCode.UNAVAILABLE, message: XdsError.from(error).text });
    return { opening: true, send: () => true, close: () => undefined };
  }
}

/** Throws an XdsError for what cannot be requested over a WebSocket. */
function checkRequest(form: "json" | "protobuf", name: string): void {
  if (form === "json")
    throw new XdsError(
      "UNIMPLEMENTED",
      "a WebSocket carries protobuf, which jsonType cannot read; give messageType(schema)",
    );
  if (name === "*" || isGlob(name))
    throw new XdsError(
      "UNIMPLEMENTED",
      `${JSON.stringify(name)} is a collection; watch single resources`,
      { resource: name },
    );
  if (name === "" || (name.startsWith("xdstp:") && typeOf(name) === undefined))
    throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)} is not a name`, {
      resource: name,
    });
}
