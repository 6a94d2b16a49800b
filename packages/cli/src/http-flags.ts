import type { Registry } from "@bufbuild/protobuf";
import type { Clock } from "@xdstp/core";
import type { RejectedFlags } from "@xdstp/openfeature";
import type { MetricsMeter, ServerOptions, XdsServer } from "@xdstp/server";

/** The protocols over HTTP that a command serves on its port, next to gRPC. */
export interface HttpFlags {
  /** True: polls of xDS over REST. */
  readonly rest: boolean;
  /** Single resources by GET. Absent: they are not served. */
  readonly get?: {
    /** The authority of all names. Absent: the host of each request. */
    readonly authority?: string;
    /** The origin whose pages may read resources. Absent: pages may not. */
    readonly origin?: string;
    /** Hosts of requests that are served, next to addresses, `localhost` and `authority`. */
    readonly hosts: readonly string[];
  };
  /** Flags for OpenFeature. Absent: they are not served. */
  readonly openfeature?: {
    /** The glob or the name of the resources with the flags. */
    readonly collection: string;
    /** The origin whose pages may evaluate flags. Absent: pages may not. */
    readonly origin?: string;
    /** Hosts of requests that are served, next to addresses and `localhost`. */
    readonly hosts: readonly string[];
  };
}

/** The parts of a command that its listeners use. */
export interface DoorContext {
  /** Returns the server, once the first request comes. */
  readonly serverOf: () => XdsServer;
  readonly source: ServerOptions["source"];
  readonly registry: Registry;
  readonly clock: Clock;
  /** Absent: nothing is measured. */
  readonly meter: MetricsMeter | undefined;
  /** True: a browser checks the name of the server by its certificate. */
  readonly hasTls: boolean;
  /** Called with a resource whose flags are not valid. */
  readonly onRejectedFlags: (rejected: RejectedFlags) => void;
}
