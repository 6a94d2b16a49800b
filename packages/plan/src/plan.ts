import type { JsonValue } from "@bufbuild/protobuf";
import type { Resource } from "@xdstp/core";
import type { Node } from "@xdstp/protos/discovery";

/** A resource that a server has, or would have. */
export interface PlannedResource {
  /** The type that it is requested under. */
  readonly typeUrl: string;
  /** Its content. `version` is not empty. */
  readonly resource: Resource;
  /** The key of the view that has it. Absent: the clients of all views. */
  readonly view?: string | undefined;
  /** The place where people find it. Absent: it has none. */
  readonly file?: string | undefined;
  /** The line in `file`, from 1, or a function that finds it: it is called for resources that change, and for no other. Absent: it is not known. */
  readonly line?: number | (() => Promise<number | undefined>) | undefined;
}

/** Clients with equal nodes (but for their ids), subscriptions and rights. They get equal responses. */
export interface ClientGroup {
  /** Node ids, with the address where a client has no id. */
  readonly clients: readonly string[];
  /** The node of the first of them. */
  readonly node: Node | undefined;
  /** The key of the view that they are served. Absent: that of all clients. */
  readonly view?: string | undefined;
  /** The variant that they speak. */
  readonly variant: "delta" | "sotw";
  /** The type URL of a service of one type. Absent: ADS. */
  readonly service?: string | undefined;
  /** The subscriptions of these clients, by type URL. */
  readonly subscriptions: ReadonlyMap<string, readonly Subscription[]>;
  /** By type URL, the resources that a policy of the server lets them see. Absent: everything. */
  readonly sees?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Type URLs of which the server waits for an answer, or has got a rejection. */
  readonly behind: ReadonlyMap<string, "unanswered" | "rejected">;
}

/** A name, glob or `*`, with the dynamic parameters that choose among its variants. */
export interface Subscription {
  /** In the spelling of the client. */
  readonly name: string;
  /** Absent: none. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** The resources of a server, and its clients. */
export interface ServedState {
  /** All resources. The content of those that are equal in the change is not needed. */
  readonly resources: readonly PlannedResource[];
  /** The clients that are connected. */
  readonly groups: readonly ClientGroup[];
  /** Streams that the caller may not see. */
  readonly hiddenStreams: number;
}

/** The change of one resource. */
export interface ResourceChange {
  /** The kind of change. */
  readonly action: "added" | "changed" | "removed";
  /** Its type. */
  readonly typeUrl: string;
  /** Its name. */
  readonly name: string;
  /** The key of the view that has it. Absent: the clients of all views. */
  readonly view?: string | undefined;
  /** Its constraints, for people, where it is one of several variants of a name. */
  readonly variant?: string | undefined;
  /** Its version now. Absent: it does not exist. */
  readonly before?: string | undefined;
  /** Its version then. Absent: it does not exist. */
  readonly after?: string | undefined;
  /** The file that has it. Of a removed resource: the file that the server has it from. Absent: it is not known. */
  readonly file?: string | undefined;
  /** The line in `file`, from 1. */
  readonly line?: number | undefined;
  /** The number of connected clients that would be sent it. */
  readonly clients: number;
  /** The first of these clients. */
  readonly clientNames: readonly string[];
  /** The fields that differ, of a changed resource. Absent: the contents cannot be compared, and `note` says why. */
  readonly fields?: readonly FieldChange[];
  /** Further information on it, for people. */
  readonly note?: string;
  /** The connections that Envoy closes. Absent: none. */
  readonly drains?: Drain;
}

/** One value that differs. Secrets are not shown. */
export interface FieldChange {
  /** A path such as `filterChains[0].filters[0].name`, in the names of JSON. */
  readonly path: string;
  /** Absent: the value did not exist. */
  readonly before?: JsonValue;
  /** Absent: the value does not exist any more. */
  readonly after?: JsonValue;
}

/** The connections that Envoy closes when a resource changes. */
export interface Drain {
  /** The id of the rule that says so, one of `drainRules`. */
  readonly rule: string;
  /** The connections that close, and how. */
  readonly text: string;
  /** The evidence for it. */
  readonly source: "measured" | "documented";
}

/** One response of the server to a group of clients. */
export interface PlannedResponse {
  /** Its type. */
  readonly typeUrl: string;
  /** Names of resources that are new for the client. */
  readonly added: readonly string[];
  /** Names of resources that the client has in another version. */
  readonly changed: readonly string[];
  /** Names of resources that the client no longer has then. */
  readonly removed: readonly string[];
  /** The number of resources in the response that the client has already: a full state, or what a changed parent makes it wait for. */
  readonly unchanged: number;
  /** The server sends the response only after this number of milliseconds. Absent: as soon as the responses before it are accepted. */
  readonly afterMs?: number;
}

/** A name that waits for another one. */
export interface PlannedHold {
  /** The type of what waits. */
  readonly typeUrl: string;
  /** The name that waits. */
  readonly name: string;
  /** The type of what it waits for. */
  readonly forType: string;
  /** The name that it waits for. */
  readonly for: string;
  /** The index of the response that sends it. Absent: it is never sent. */
  readonly until?: number;
}

/** The responses to a group of clients. */
export interface GroupPlan extends Omit<ClientGroup, "subscriptions" | "sees" | "node"> {
  /** The name of their program, with its version. */
  readonly userAgent: string;
  /** Types whose subscriptions follow what the client has accepted, as Envoy and gRPC do. */
  readonly follows: readonly string[];
  /** The responses, in order. Empty: nothing changes for these clients. */
  readonly responses: readonly PlannedResponse[];
  /** Names that wait, in the order in which their waits begin. */
  readonly holds: readonly PlannedHold[];
  /** Names of added resources that a policy may hide from these clients; whether it does is not known. */
  readonly maybeHidden: readonly string[];
  /** Reasons why the order is uncertain. */
  readonly notes: readonly string[];
}

/** The effects of a change. */
export interface Plan {
  /** The number of resources that are new. */
  readonly added: number;
  /** The number of resources that change. */
  readonly changed: number;
  /** The number of resources that are removed. */
  readonly removed: number;
  /** The number of resources that stay as they are. */
  readonly unchanged: number;
  /** By type and name. */
  readonly changes: readonly ResourceChange[];
  /** Groups of clients, the largest first. */
  readonly groups: readonly GroupPlan[];
  /** The number of clients that would be sent something. */
  readonly affectedClients: number;
  /** The number of connected clients that the caller may see. */
  readonly clients: number;
  /** Facts that are not known. */
  readonly notes: readonly string[];
}
