import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { contentVersion } from "@xdstp/cache";
import type {
  AnyBytes,
  ByteStream,
  ByteStreamHandler,
  Reference,
  ResourceType,
  Status,
} from "@xdstp/core";
import { decodeText, walkFields, WireType } from "@xdstp/core/wire";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  type Node,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import { typeUrlOf } from "@xdstp/resource-types";
import { globOf, isGlob, nameKey } from "@xdstp/uri";

import type { ClientGroup, PlannedResponse, Subscription } from "./plan.ts";
import { referencesOfList } from "./references-of-list.ts";

/** A client in memory that accepts every response. */
export interface AcceptingClient {
  /** Sends the first requests, one for each type. */
  open(connect: (out: ByteStream) => ByteStreamHandler | Status): void;
  /** Reads and accepts all responses that have arrived, and returns them in order. */
  receive(): readonly PlannedResponse[];
  /** From now on, the names of types whose subscriptions follow what is accepted are subscribed and unsubscribed as clients do. */
  follow(): void;
  /** The types whose subscriptions follow what the client has accepted. */
  readonly follows: readonly string[];
  /** The reason why the server has ended the stream. Absent: it is open. */
  readonly closed: Status | undefined;
}

/** Options of {@link createAcceptingClient}. */
export interface AcceptingClientOptions {
  readonly group: Pick<ClientGroup, "variant" | "service" | "subscriptions">;
  readonly node: Node;
  /** The data of the types. */
  readonly types: ReadonlyMap<string, ResourceType>;
}

/** The state of a client for one type. */
interface TypeState {
  readonly subscribed: Map<string, Subscription>;
  /** By name, what tells one state from another: the version and TTL over delta, a hash over SotW. */
  readonly held: Map<string, string>;
  /** The references of each accepted resource, by name. Names without references are left out. */
  readonly references: Map<string, readonly Reference[]>;
  version: string;
  nonce: string;
}

/** A decoded response. */
interface Received {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly version: string;
  readonly resources: readonly {
    readonly name: string;
    /** Tells one state of the name from another. */
    readonly content: string;
    readonly payload: AnyBytes;
  }[];
  readonly removed: readonly string[];
}

/** Clients that request what accepted resources refer to: the names of their programs, and the first words of those. */
const followers: readonly RegExp[] = [/^envoy/i, /^grpc/i];

/** Makes a client that is not connected yet. */
export function createAcceptingClient(options: AcceptingClientOptions): AcceptingClient {
  const { group, node } = options;
  const wire = wires[group.variant];
  const isKnown = followers.some((name) => name.test(node.userAgentName));
  const types = new Map<string, TypeState>();
  /** Types of which every subscription is one that something refers to. */
  const followed = new Set<string>();
  /** Types of which the client subscribes to something else: a wildcard, or a name of its own. */
  const independent = new Set<string>();
  let isFollowing = false;
  const inbox: Uint8Array[] = [];
  let handler: ByteStreamHandler | undefined;
  let closed: Status | undefined;
  let isFirst = true;

  const stateOf = (typeUrl: string): TypeState => {
    const known = types.get(typeUrl) ?? {
      subscribed: new Map<string, Subscription>(),
      held: new Map<string, string>(),
      references: new Map<string, readonly Reference[]>(),
      version: "",
      nonce: "",
    };
    types.set(typeUrl, known);
    return known;
  };
  const send = (typeUrl: string, change: Change): void => {
    const bytes = wire.encode(isFirst ? node : undefined, typeUrl, stateOf(typeUrl), change);
    isFirst = false;
    handler?.onMessage(bytes);
  };
  const subscribe = (typeUrl: string, add: readonly Subscription[], drop: readonly string[]) => {
    const { subscribed } = stateOf(typeUrl);
    for (const one of add) subscribed.set(one.name, one);
    for (const name of drop) subscribed.delete(name);
    send(typeUrl, { add, drop });
  };

  /** The names of a type that the resources of the client refer to. */
  const referred = (): ReadonlyMap<string, ReadonlySet<string>> => {
    const found = new Map<string, Set<string>>();
    for (const { references } of types.values())
      for (const list of references.values())
        for (const { typeUrl, name, source } of list) {
          if (source !== undefined) continue;
          const names = found.get(typeUrl) ?? new Set();
          found.set(typeUrl, names.add(name));
        }
    return found;
  };
  const canFollow = (typeUrl: string): boolean =>
    (group.service === undefined || group.service === typeUrl) &&
    !independent.has(typeUrl) &&
    (isKnown || followed.has(typeUrl));
  const referencesOf = (typeUrl: string, payload: AnyBytes): readonly Reference[] =>
    payload.typeUrl === typeUrl
      ? (referencesOfList(payload) ?? options.types.get(typeUrl)?.references?.(payload.value) ?? [])
      : [];

  const applyResponse = ({ typeUrl, resources, removed }: Received): PlannedResponse => {
    const { held, references } = stateOf(typeUrl);
    const response = { added: [] as string[], changed: [] as string[], unchanged: 0 };
    for (const { name, content, payload } of resources) {
      const before = held.get(name);
      if (before === content) response.unchanged++;
      else if (before === undefined) response.added.push(name);
      else response.changed.push(name);
      held.set(name, content);
      const list =
        before === content ? (references.get(name) ?? []) : referencesOf(typeUrl, payload);
      if (list.length > 0) references.set(name, list);
      else references.delete(name);
    }
    const lost = removed
      .flatMap((name) => (isGlob(name) ? membersOf(held, name) : [name]))
      .filter((name) => held.delete(name));
    for (const name of lost) references.delete(name);
    return { typeUrl, ...response, removed: lost };
  };

  return {
    open(connect) {
      const answer = connect({
        send({ bytes }) {
          inbox.push(bytes);
          return true;
        },
        close(status) {
          closed = status;
        },
      });
      if ("code" in answer) {
        closed = answer;
        return;
      }
      handler = answer;
      for (const [typeUrl, names] of group.subscriptions) subscribe(typeUrl, names, []);
    },
    receive() {
      const responses: PlannedResponse[] = [];
      for (let bytes = inbox.shift(); bytes !== undefined; bytes = inbox.shift()) {
        const received = wire.decode(bytes, stateOf, options.types);
        const state = stateOf(received.typeUrl);
        responses.push(applyResponse(received));
        state.version = received.version;
        state.nonce = received.nonce;
        if (isFollowing) followReferences();
        send(received.typeUrl, { nonce: received.nonce });
      }
      return responses;
    },
    follow() {
      const wanted = referred();
      for (const [typeUrl, { subscribed }] of types) {
        const names = [...subscribed.keys()];
        const isReferred = names.every((name) => wanted.get(typeUrl)?.has(name) === true);
        if (!isReferred) independent.add(typeUrl);
        else if (names.length > 0) followed.add(typeUrl);
      }
      isFollowing = true;
    },
    get follows() {
      return [...types.keys()].filter(canFollow).sort();
    },
    get closed() {
      return closed;
    },
  };

  /** Subscribes to what is referred to now, and to nothing else, of the types that follow. */
  function followReferences(): void {
    const wanted = referred();
    for (const typeUrl of new Set([...wanted.keys(), ...types.keys()])) {
      if (!canFollow(typeUrl)) continue;
      const names = wanted.get(typeUrl) ?? new Set();
      const { subscribed } = types.get(typeUrl) ?? { subscribed: new Map<string, Subscription>() };
      const add = [...names].filter((name) => !subscribed.has(name));
      const drop = [...subscribed.keys()].filter((name) => !names.has(name));
      if (add.length + drop.length > 0)
        subscribe(
          typeUrl,
          add.map((name) => ({ name })),
          drop,
        );
    }
  }
}

/** The content of a request, without its type. */
interface Change {
  readonly add?: readonly Subscription[];
  readonly drop?: readonly string[];
  /** Accepts the response with this nonce. */
  readonly nonce?: string;
}

interface Wire {
  encode(node: Node | undefined, typeUrl: string, state: TypeState, change: Change): Uint8Array;
  decode(
    bytes: Uint8Array,
    stateOf: (typeUrl: string) => TypeState,
    types: ReadonlyMap<string, ResourceType>,
  ): Received;
}

const wrapperUrl = typeUrlOf(ResourceSchema.typeName);

const wires: Readonly<Record<ClientGroup["variant"], Wire>> = {
  delta: {
    encode: (node, typeUrl, _state, { add = [], drop = [], nonce = "" }) =>
      toBinary(
        DeltaDiscoveryRequestSchema,
        create(DeltaDiscoveryRequestSchema, {
          ...(node && { node }),
          typeUrl,
          responseNonce: nonce,
          resourceNamesSubscribe: plainNames(add),
          resourceLocatorsSubscribe: locators(add),
          resourceNamesUnsubscribe: [...drop],
        }),
      ),
    decode(bytes) {
      const { typeUrl, nonce, systemVersionInfo, resources, removedResources } = fromBinary(
        DeltaDiscoveryResponseSchema,
        bytes,
      );
      return {
        typeUrl,
        nonce,
        version: systemVersionInfo,
        resources: resources.map(
          ({ name, resourceName, version, ttl, cacheControl, resource }) => ({
            name: resourceName?.name ?? name,
            // A new TTL is sent with the same version.
            content: [version, ttl?.seconds, ttl?.nanos, cacheControl?.doNotCache].join(" "),
            payload: resource ?? nothing,
          }),
        ),
        removed: removedResources,
      };
    },
  },
  sotw: {
    encode: (node, typeUrl, { subscribed, version, nonce }) =>
      toBinary(
        DiscoveryRequestSchema,
        create(DiscoveryRequestSchema, {
          ...(node && { node }),
          typeUrl,
          versionInfo: version,
          responseNonce: nonce,
          resourceNames: plainNames([...subscribed.values()]),
          resourceLocators: locators([...subscribed.values()]),
        }),
      ),
    decode(bytes, stateOf, types) {
      const response = fromBinary(DiscoveryResponseSchema, bytes);
      const { typeUrl, nonce, versionInfo } = response;
      const type = types.get(typeUrl);
      const resources = response.resources.map((any) => {
        const content = contentVersion({ payload: any });
        if (any.typeUrl !== wrapperUrl)
          return { name: nameIn(any.value, type), content, payload: any };
        const { name, resourceName, resource } = fromBinary(ResourceSchema, any.value);
        return { name: resourceName?.name ?? name, content, payload: resource ?? nothing };
      });
      const names = new Set(resources.map(({ name }) => name));
      const removed =
        type?.fullStateInSotw === true
          ? [...stateOf(typeUrl).held.keys()].filter((name) => !names.has(name))
          : [];
      return { typeUrl, nonce, version: versionInfo, resources, removed };
    },
  },
};

const nothing: AnyBytes = { typeUrl: "", value: new Uint8Array() };

/** The name in a payload. */
function nameIn(payload: Uint8Array, type: ResourceType | undefined): string {
  let name = "";
  walkFields(payload, (field, start, end, wireType) => {
    if (field === (type?.nameField ?? 1) && wireType === WireType.LENGTH_DELIMITED)
      name = decodeText(payload, start, end);
    return true;
  });
  return name;
}

/** Names that a glob covers. */
function membersOf(held: ReadonlyMap<string, string>, glob: string): readonly string[] {
  return [...held.keys()].filter((name) => globOf(name) === nameKey(glob));
}

function plainNames(subscriptions: readonly Subscription[]): string[] {
  return subscriptions.filter(({ parameters }) => parameters === undefined).map(({ name }) => name);
}

function locators(
  subscriptions: readonly Subscription[],
): { readonly name: string; readonly dynamicParameters: Record<string, string> }[] {
  return subscriptions.flatMap(({ name, parameters }) =>
    parameters === undefined ? [] : [{ name, dynamicParameters: { ...parameters } }],
  );
}
