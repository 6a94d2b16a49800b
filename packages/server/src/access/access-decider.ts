import { StatusCode, XdsError, type Clock, type ResourceSource, type Status } from "@xdstp/core";
import type { Policy, SharedFilters } from "@xdstp/policy";
import type { EventHub } from "../server-event.ts";
import type { Gate } from "../gate.ts";
import { rootOf, type Access } from "./access-book.ts";
import type { ServerOptions } from "../xds-server.ts";
import type { Authorize, Peer } from "./authorize.ts";

/** The reason why a client is not served. */
export interface Rejection {
  readonly status: Status;
  /** For the operator. */
  readonly reason: string;
}

/** Decides what clients are served. */
export interface AccessDecider {
  /** Never rejects. */
  decide(peer: Peer, signal: AbortSignal): Promise<Access | Rejection>;
  /**
   * True if `sourceFor` has returned a source whose revisions are not those of the source of the
   * server.
   */
  readonly hasUnrelated: boolean;
}

/** Options of {@link createAccessDecider}. */
export interface DeskOptions {
  readonly authorize: Authorize | undefined;
  readonly sourceFor: ServerOptions["sourceFor"];
  /** The source of clients for which `sourceFor` chooses none. */
  readonly source: ResourceSource;
  readonly filters: SharedFilters;
  readonly clock: Clock;
  readonly authorizeMs: number;
  readonly gate: Gate;
  readonly hub: EventHub;
}

/** The texts that a client receives; they are fixed. */
const texts = { PERMISSION_DENIED: "not allowed", UNAUTHENTICATED: "not authenticated" } as const;
const unknown: Status = { code: StatusCode.UNAVAILABLE, message: "access cannot be decided now" };
const cancelled: Status = { code: StatusCode.CANCELLED, message: "the call was cancelled" };
/** Also the status of streams whose policy is revoked. */
export const revoked: Status = {
  code: StatusCode.PERMISSION_DENIED,
  message: "access was revoked",
};

/** Calls `authorize`, then `sourceFor`, within one time limit. */
export function createAccessDecider(options: DeskOptions): AccessDecider {
  const { filters, gate, clock, authorizeMs, hub } = options;
  let hasUnrelated = false;
  const warn = (peer: Peer, root: ResourceSource): void => {
    if (hasUnrelated || rootOf(root) === rootOf(options.source)) return;
    hasUnrelated = true;
    hub.emit?.({ kind: "warning", warning: "unrelated-source", message: unrelatedText(peer) });
  };
  const grant = ({ policy, root }: Asked): Access | Rejection => {
    const notReady = gate.rejection(root);
    if (notReady !== undefined) return { status: notReady, reason: notReady.message };
    if (policy?.revoked?.aborted === true) return { status: revoked, reason: revoked.message };
    if (policy === undefined)
      return {
        policy,
        root,
        source: root,
        allows: () => true,
        onChange: () => () => undefined,
        release: () => undefined,
      };
    const lease = filters.acquire(root, policy);
    return {
      policy,
      root,
      source: lease.source,
      allows: (typeUrl, name) => lease.source.allows(typeUrl, name),
      onChange: (listener) => lease.source.onChange(listener),
      release: () => {
        lease.release();
      },
    };
  };
  return {
    get hasUnrelated() {
      return hasUnrelated;
    },
    async decide(peer, signal) {
      const late = new AbortController();
      const timer = clock.after(authorizeMs, () => {
        late.abort();
      });
      try {
        const asked = await within(AbortSignal.any([signal, gate.closed, late.signal]), (until) =>
          ask(options, peer, until),
        );
        warn(peer, asked.root);
        return grant(asked);
      } catch (error) {
        if (signal.aborted) return { status: cancelled, reason: cancelled.message };
        const closing = gate.closed.aborted ? gate.rejection(options.source) : undefined;
        if (closing !== undefined) return { status: closing, reason: closing.message };
        return late.signal.aborted
          ? { status: unknown, reason: `no decision within ${authorizeMs} ms` }
          : rejectionOf(error, hub);
      } finally {
        timer.cancel();
      }
    },
  };
}

function unrelatedText({ node, address }: Peer): string {
  return `sourceFor gave client ${JSON.stringify(node?.id ?? address)} a source that is not a view of the server's source, so waitForAck, client status and metrics do not cover its clients; use createNodeCaches of @xdstp/cache, or a source with viewOf`;
}

interface Asked {
  readonly policy: Policy | undefined;
  readonly root: ResourceSource;
}

async function ask(
  { authorize, sourceFor, source }: DeskOptions,
  peer: Peer,
  signal: AbortSignal,
): Promise<Asked> {
  const policy = await authorize?.(peer, { signal });
  if (authorize !== undefined && !isPolicy(policy))
    throw new XdsError(
      "INTERNAL",
      "authorize gave no policy: it has to have a key and a function allows",
    );
  return { policy, root: (await sourceFor?.(peer, { signal })) ?? source };
}

function isPolicy(policy: Partial<Policy> | undefined | null): boolean {
  return typeof policy?.key === "string" && typeof policy.allows === "function";
}

/**
 * Returns the result of a task. Rejects as soon as the signal aborts, even if the task continues.
 */
async function within<T>(
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(new XdsError("CANCELLED", "of no use any more"));
    };
  });
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([task(signal), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function rejectionOf(error: unknown, hub: EventHub): Rejection {
  const { code, text } = XdsError.from(error);
  if (error instanceof XdsError && (code === "PERMISSION_DENIED" || code === "UNAUTHENTICATED"))
    return { status: { code: StatusCode[code], message: texts[code] }, reason: text };
  hub.fault("authorize", error);
  return { status: unknown, reason: text };
}
