import {
  type Committed,
  type Interest,
  isSameError,
  type Rejection,
  type ResourceSink,
  type Scope,
  type Transaction,
  XdsError,
} from "@xdstp/core";
import type { ClientStatus, WantStatus } from "@xdstp/protocol/client";

import type { OpenServer } from "../federation-source.ts";
import { kindOf } from "../routes/ask.ts";
import { typedNameKey } from "../routes/taking.ts";
import { jointCommitted, jointHeld, shareTransaction, Tenant } from "./tenant.ts";

interface Named {
  readonly typeUrl: string;
  readonly name: string;
}

/** Up to this number of rejected names are remembered. A dropped name is not reported twice, and perhaps not at all to one that rejects it later. */
const REMEMBERED = 1_000;

/** A server in use by several, over one stream: each receives what it subscribes to. With one alone everything passes unchanged. */
export class SharedServer {
  readonly #server: OpenServer;
  readonly #onLeft: () => void;
  readonly #abort = new AbortController();
  /** Why it cannot be reached; or by type, where it is the streams of that which fail. */
  readonly #failures = new Map<string | undefined, XdsError>();
  /** By type and name, what was rejected last, and by whom. */
  readonly #rejected = new Map<
    string,
    { readonly error: XdsError; readonly rejecters: readonly Tenant[] }
  >();
  #tenants: readonly Tenant[] = [];

  /** @param onLeft - Called when it has no users any more: it is closed then */
  constructor(server: OpenServer, onLeft: () => void) {
    this.#server = server;
    this.#onLeft = onLeft;
    server.feed.run(this.#sink(), this.#abort.signal).catch((error: unknown) => {
      if (!this.#abort.signal.aborted) this.#unavailable({}, XdsError.from(error));
    });
  }

  get responded(): boolean | undefined {
    return this.#server.feed.responded;
  }

  get status(): ClientStatus | undefined {
    return this.#server.feed.status?.();
  }

  nodeChanged(): void {
    this.#server.feed.nodeChanged?.();
  }

  /** What one of them sees of it. */
  statusFor(tenant: Tenant): ClientStatus | undefined {
    const { status } = this;
    if (status === undefined || this.#tenants.length === 1) return status;
    const types = status.types.map((type) => ({
      ...type,
      wants: type.wants
        .filter(({ interest }) => tenant.wants(type.typeUrl, interest))
        .map((want) =>
          forTenant(tenant, type.typeUrl, want, (error) =>
            this.#concerns(tenant, error, { typeUrl: type.typeUrl, name: want.interest.name }),
          ),
        ),
    }));
    return { ...status, types: types.filter(({ wants }) => wants.length > 0) };
  }

  join(sink: ResourceSink, inWildcard: (name: string) => boolean): Tenant {
    const tenant = new Tenant(sink, inWildcard);
    this.#tenants = [...this.#tenants, tenant];
    for (const [typeUrl, error] of this.#failures)
      sink.unavailable(typeUrl === undefined ? {} : { typeUrl }, error);
    return tenant;
  }

  leave(tenant: Tenant): void {
    if (!this.#tenants.includes(tenant)) return;
    if (this.#tenants.length === 1) {
      this.#close();
      return;
    }
    const wanted = Map.groupBy(tenant, ({ typeUrl }) => typeUrl);
    for (const [typeUrl, interests] of wanted)
      this.want(
        tenant,
        typeUrl,
        [],
        interests.map(({ interest }) => interest),
      );
    this.#tenants = this.#tenants.filter((other) => other !== tenant);
  }

  /** A name that another user has received already is requested again, as the server would not send it again (S-SUB-3, S-DSUB-3). */
  want(
    tenant: Tenant,
    typeUrl: string,
    added: readonly Interest[],
    dropped: readonly Interest[],
  ): void {
    const others = this.#tenants.filter((other) => other !== tenant);
    const isShared = (interest: Interest): boolean =>
      others.some((other) => other.wants(typeUrl, interest));
    for (const interest of dropped) tenant.drop(typeUrl, interest);
    for (const interest of added) tenant.add(typeUrl, interest);
    const gone = [...dropped.filter((interest) => !isShared(interest)), ...added.filter(isShared)];
    if (added.length + gone.length > 0) this.#server.feed.want?.(typeUrl, added, gone);
  }

  #close(): void {
    this.#tenants = [];
    this.#onLeft();
    this.#abort.abort();
    this.#server.close();
  }

  #sink(): ResourceSink {
    return {
      commit: (transaction) => this.#commit(transaction),
      held: (typeUrl, interest) =>
        this.#alone?.sink.held(typeUrl, interest) ?? jointHeld(this.#tenants, typeUrl, interest),
      unavailable: (scope, error) => {
        this.#unavailable(scope, error);
      },
    };
  }

  get #alone(): Tenant | undefined {
    return this.#tenants.length === 1 ? this.#tenants[0] : undefined;
  }

  #commit(transaction: Transaction): Committed {
    const alone = this.#alone;
    if (alone !== undefined) return alone.sink.commit(transaction);
    const all = Array.from(
      shareTransaction(transaction, this.#tenants, (tenant, error, of) =>
        this.#concerns(tenant, error, of),
      ),
      ([tenant, part]) => [tenant, tenant.sink.commit(part)] as const,
    );
    if (all.every(([, { decided }]) => decided === undefined)) return this.#conclude(all);
    return {
      revision: all[0]?.[1].revision ?? 0,
      decided: Promise.all(
        all.map(
          async ([tenant, committed]) => [tenant, (await committed.decided) ?? committed] as const,
        ),
      ).then((decided) => this.#conclude(decided)),
    };
  }

  #conclude(all: readonly (readonly [Tenant, Committed])[]): Committed {
    const { committed, rejecters } = jointCommitted(all);
    for (const [rejection, tenants] of rejecters) this.#tellLater(rejection, tenants);
    return committed;
  }

  #unavailable(scope: Scope, error: XdsError | undefined): void {
    const { typeUrl, interest, authority } = scope;
    if (interest === undefined && authority === undefined) this.#note(typeUrl, error);
    for (const tenant of this.#tenants) {
      const isOf =
        typeUrl === undefined || interest === undefined || tenant.wants(typeUrl, interest);
      if (
        isOf &&
        this.#concerns(
          tenant,
          error,
          typeUrl === undefined || interest === undefined
            ? undefined
            : { typeUrl, name: interest.name },
        )
      )
        tenant.sink.unavailable(scope, error);
    }
  }

  /** Why something was rejected is the concern of those who did; that it has not come, of those who do not have it. */
  #concerns(tenant: Tenant, error: XdsError | undefined, of: Named | undefined): boolean {
    if (error === undefined) return true;
    const { reason, typeUrl = "", resource = "" } = error.context;
    if (reason === "rejected")
      return (
        this.#rejected.get(typedNameKey(typeUrl, resource))?.rejecters.includes(tenant) !== false
      );
    return of === undefined || reason !== "late" || !tenant.hasOf(of.typeUrl, of);
  }

  /** The client reports a rejected version once (C-ACK-18), so a user that begins to reject what others reject already is notified here. */
  #tellLater(rejection: Rejection, rejecters: readonly Tenant[]): void {
    const { typeUrl, name, error } = rejection;
    const id = typedNameKey(typeUrl, name);
    const known = this.#rejected.get(id);
    this.#rejected.delete(id);
    this.#rejected.set(id, { error, rejecters });
    if (this.#rejected.size > REMEMBERED)
      for (const oldest of this.#rejected.keys()) {
        this.#rejected.delete(oldest);
        break;
      }
    if (known === undefined || !isSameError(known.error, error)) return;
    for (const tenant of rejecters)
      if (!known.rejecters.includes(tenant))
        for (const { interest } of tenant.covering(typeUrl, name))
          tenant.sink.unavailable({ typeUrl, interest }, error);
  }

  #note(typeUrl: string | undefined, error: XdsError | undefined): void {
    if (error !== undefined) this.#failures.set(typeUrl, error);
    else if (typeUrl === undefined) this.#failures.clear();
    else this.#failures.delete(typeUrl);
  }
}

/**
 * Returns the state of a requested resource for one of the federations that share a server: an error that concerns only others counts as cached for it (B-CSDS-2, C-CSDS-3).
 * @param concerns - whether an error is its own
 */
function forTenant(
  tenant: Tenant,
  typeUrl: string,
  want: WantStatus,
  concerns: (error: XdsError) => boolean,
): WantStatus {
  const { interest, state, error, rejected: all, ...others } = want;
  const rejected = all.filter((one) => concerns(one.error));
  const isOwn = error !== undefined && concerns(error);
  const lacks = kindOf(interest.name) === "name" && !tenant.holds(typeUrl, interest.name);
  const known = state === "cached" && lacks ? "late" : state;
  if (rejected.length === all.length && isOwn === (error !== undefined) && known === state)
    return want;
  return {
    interest,
    ...others,
    rejected,
    ...(isOwn && { error }),
    state: rejected.length > 0 ? "rejected" : !isOwn && !lacks ? "cached" : known,
  };
}
