import { type Clock, type ResourceSource, XdsError } from "@xdstp/core";
import type { NackError } from "@xdstp/protocol/server";
import { AckError } from "./ack-error.ts";
import { createAckWait, type AckReport } from "./ack-wait.ts";
import type { EventHub, ServerEvent } from "./server-event.ts";
import type { Gate } from "./gate.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { XdsServer } from "./xds-server.ts";

/** The parts of a server that a wait uses. */
export interface WaitHost {
  readonly source: Pick<ResourceSource, "revision">;
  readonly clock: Clock;
  readonly streams: Pick<OpenStreams, "all" | "get">;
  readonly hub: EventHub;
  readonly gate: Gate;
  /**
   * True if some clients are served from sources whose revisions are sequences of their own.
   * Default: false.
   */
  readonly hasUnrelated?: boolean | undefined;
}

/**
 * Waits until every client that subscribes to a change of a revision has accepted it, or a later
 * state of it (S-ACK-9).
 */
export async function waitForAck(
  host: WaitHost,
  revision: number,
  { nodes, timeout = 30_000, signal }: NonNullable<Parameters<XdsServer["waitForAck"]>[1]>,
): Promise<AckReport> {
  if (!Number.isSafeInteger(revision) || revision < 0 || revision > host.source.revision) {
    throw new XdsError(
      "INVALID_ARGUMENT",
      `revision ${revision} does not exist; the newest is ${host.source.revision}${host.hasUnrelated === true ? unrelated : ""}`,
    );
  }
  if (!(timeout >= 0 && timeout <= LONGEST))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `timeout is ${timeout}; give milliseconds from 0 to ${LONGEST}`,
    );
  const wait = createAckWait(host.streams, revision, nodes);
  return new Promise((resolve, reject) => {
    const ends: (() => void)[] = [];
    const settle = (action: () => void): void => {
      for (const end of ends.splice(0)) end();
      action();
    };
    const check = (): void => {
      if (wait.done)
        settle(() => {
          resolve(wait.report());
        });
    };
    const fail = (
      code: "ABORTED" | "DEADLINE_EXCEEDED" | "CANCELLED" | "UNAVAILABLE",
      why: string,
      rejection?: { readonly stream: number; readonly error: NackError },
    ): void => {
      settle(() => {
        reject(new AckError(code, `revision ${revision}: ${why}`, wait.missing(rejection)));
      });
    };
    const rejected = wait.look();
    if (rejected !== undefined) {
      fail("ABORTED", `${rejected.node} has rejected it`, rejected);
      return;
    }
    ends.push(
      host.hub.listen((event) => {
        observe(event);
      }),
    );
    ends.push(
      onAbort(host.gate.closed, () => {
        fail("UNAVAILABLE", "the server is shutting down");
      }),
    );
    if (signal !== undefined)
      ends.push(
        onAbort(signal, () => {
          fail("CANCELLED", "the wait was cancelled");
        }),
      );
    const timer = host.clock.after(timeout, () => {
      fail("DEADLINE_EXCEEDED", `not accepted by all after ${timeout} ms`);
    });
    ends.push(() => {
      timer.cancel();
    });
    const observe = (event: ServerEvent): void => {
      const nack = wait.observe(event, () => {
        lookAgain();
      });
      if (nack === undefined) check();
      else fail("ABORTED", `${nack.node} has rejected it`, nack);
    };
    const lookAgain = (): void => {
      if (ends.length === 0) return;
      const late = wait.look();
      if (late === undefined) check();
      else fail("ABORTED", `${late.node} has rejected it`, late);
    };
    check();
  });
}

const unrelated =
  ". Some clients are served by sourceFor from other caches, whose revisions are not counted here; make them with createNodeCaches of @xdstp/cache";
const LONGEST = 0x7fff_ffff;

function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) queueMicrotask(listener);
  else signal.addEventListener("abort", listener, { once: true });
  return () => {
    signal.removeEventListener("abort", listener);
  };
}
