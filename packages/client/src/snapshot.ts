import type { XdsError } from "@xdstp/core";

/** What a name has, as far as it is known (C-GRPC-8). */
export interface Snapshot<T> {
  /** As it was requested. */
  readonly name: string;
  /** The resource. Absent: there is none, `error` says why; stop using what came before. */
  readonly value?: T;
  /** Of the resource, as the server gave it; one of its content where that gave none (S-VER-4). Empty where there is none. */
  readonly version: string;
  /** Next to a value: ambient, the value stays valid (the server is away, a newer state was rejected). Alone: why there is none. */
  readonly error?: XdsError;
}
