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

/**
 * The maximum number of rejected names that are remembered. For a name that was dropped, a tenant
 * that begins to reject it later may get no report.
 */
const REMEMBERED = 1_000;

/**
 * A server that several tenants use over one stream. Each tenant receives the resources that it
 * subscribes to. With a single tenant everything passes unchanged.
 */
export class SharedServer {
  readonly #server: OpenServer;
  readonly #onLeft: () => void;
  readonly #abort = new AbortController();
  /**
   * The failure of the whole server, under the key `undefined`, and the failures of streams of
   * single types.
   */
  readonly #failures = new Map<string | undefined, XdsError>();
  /** By type and name: the last rejection, and the tenants that have rejected. */
  readonly #rejected = new Map<
    string,
    { readonly error: XdsError; readonly rejecters: readonly Tenant[] }
  >();
  #tenants: readonly Tenant[] = [];

  /** @param onLeft - Called when the last tenant has left, and the server is closed */
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

  /** Returns the status that one tenant sees. */
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

  /**
   * Changes the subscriptions of a tenant. A name that another tenant has already received is
   * subscribed again, since the server would not send it again (S-SUB-3, S-DSUB-3).
   */
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

  /**
   * Returns true if an error concerns a tenant. A rejection concerns the tenants that have
   * rejected. A timeout concerns the tenants that do not have the resource.
   */
  #concerns(tenant: Tenant, error: XdsError | undefined, of: Named | undefined): boolean {
    if (error === undefined) return true;
    const { reason, typeUrl = "", resource = "" } = error.context;
    if (reason === "rejected")
      return (
        this.#rejected.get(typedNameKey(typeUrl, resource))?.rejecters.includes(tenant) !== false
      );
    return of === undefined || reason !== "late" || !tenant.hasOf(of.typeUrl, of);
  }

  /**
   * The client reports a rejected version once (C-ACK-18). So this notifies a tenant that begins to
   * reject a version that others reject already.
   */
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
 * Returns the state of a requested resource for one of the tenants of a server. If its only error
 * concerns other tenants, the resource counts as cached for this one (B-CSDS-2, C-CSDS-3).
 * @param concerns - Returns true if an error concerns the tenant
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
