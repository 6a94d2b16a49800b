import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { lengthDelimited } from "@xdstp/core/wire";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  type NodeSchema,
} from "@xdstp/protos/discovery";

/** The stream on which a client sends and reads whole messages. */
export interface Wire {
  send(message: Uint8Array): void;
  take(): Uint8Array | undefined;
}

export type NodeInit = Omit<MessageInitShape<typeof NodeSchema>, "$typeName">;

/** A response of either variant. */
export interface TestResponse {
  readonly typeUrl: string;
  readonly nonce: string;
  /** The `version_info` (SotW) or `system_version_info` (delta) of the response. */
  readonly version: string;
  readonly names: readonly string[];
  readonly removed: readonly string[];
  readonly controlPlane: string | undefined;
}

/** A client with the same methods in both variants. */
export interface TestClient {
  /**
   * Requests names: in SotW all names of the subscription, in delta the added names. `holds` is
   * what the client has from an earlier stream (delta).
   */
  readonly ask: (
    typeUrl: string,
    names: readonly string[],
    holds?: Readonly<Record<string, string>>,
  ) => void;
  /** Unsubscribes names of the type that was accepted last, and changes nothing else. */
  readonly drop: (typeUrl: string, names: readonly string[]) => void;
  /** Returns the oldest response that was not read yet. Throws if there is none. */
  readonly next: () => TestResponse;
  readonly ack: (response: TestResponse) => void;
  readonly nack: (response: TestResponse, text: string) => void;
}

/**
 * Creates a client that sends single messages and never answers by itself. Its first message
 * contains the node.
 */
export function createClient(
  wire: Wire,
  variant: "delta" | "sotw",
  node: NodeInit | null = { id: "n", userAgentName: "test" },
): TestClient {
  let first = node;
  let wanted: readonly string[] = [];
  let accepted = "";
  let acceptedNonce = "";
  const withNode = <T extends object>(request: T): T & { node?: NodeInit } => {
    const whole = first === null ? request : { ...request, node: first };
    first = null;
    return whole;
  };
  const delta = (
    request: Omit<MessageInitShape<typeof DeltaDiscoveryRequestSchema>, "$typeName">,
  ): void => {
    wire.send(
      toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, withNode(request))),
    );
  };
  const sotw = (
    request: Omit<MessageInitShape<typeof DiscoveryRequestSchema>, "$typeName">,
  ): void => {
    wire.send(
      toBinary(
        DiscoveryRequestSchema,
        create(
          DiscoveryRequestSchema,
          withNode({ resourceNames: [...wanted], versionInfo: accepted, ...request }),
        ),
      ),
    );
  };
  return {
    ask(typeUrl, names, holds = {}) {
      wanted = names;
      if (variant === "delta")
        delta({ typeUrl, resourceNamesSubscribe: [...names], initialResourceVersions: holds });
      else sotw({ typeUrl });
    },
    drop(typeUrl, names) {
      wanted = wanted.filter((name) => !names.includes(name));
      if (variant === "delta") delta({ typeUrl, resourceNamesUnsubscribe: [...names] });
      else sotw({ typeUrl, responseNonce: acceptedNonce });
    },
    next() {
      const bytes = wire.take();
      if (bytes === undefined) throw new Error("a response was expected, and none has come");
      return readResponse(bytes, variant);
    },
    ack({ typeUrl, nonce, version }) {
      accepted = version;
      acceptedNonce = nonce;
      if (variant === "delta") delta({ typeUrl, responseNonce: nonce });
      else sotw({ typeUrl, responseNonce: nonce });
    },
    nack({ typeUrl, nonce }, text) {
      const answer = { typeUrl, responseNonce: nonce, errorDetail: { code: 3, message: text } };
      if (variant === "delta") delta(answer);
      else sotw(answer);
    },
  };
}

/** Decodes a response of either variant. */
export function readResponse(bytes: Uint8Array, variant: "delta" | "sotw"): TestResponse {
  if (variant === "delta") {
    const { typeUrl, nonce, systemVersionInfo, resources, removedResources, controlPlane } =
      fromBinary(DeltaDiscoveryResponseSchema, bytes);
    return {
      typeUrl,
      nonce,
      version: systemVersionInfo,
      names: resources.map(({ name }) => name),
      removed: removedResources,
      controlPlane: controlPlane?.identifier,
    };
  }
  const { typeUrl, nonce, versionInfo, resources, controlPlane } = fromBinary(
    DiscoveryResponseSchema,
    bytes,
  );
  return {
    typeUrl,
    nonce,
    version: versionInfo,
    names: resources.map(({ value }) => nameIn(value)),
    removed: [],
    controlPlane: controlPlane?.identifier,
  };
}

/**
 * Returns a payload of any type: its name in field 1, and a text in field 15, which these tests
 * never read.
 */
export function payload(name: string, text = ""): Uint8Array {
  return Buffer.concat([lengthDelimited(1, name), lengthDelimited(15, text)]);
}

/** Returns the name in a {@link payload} of less than 128 bytes. */
export function nameIn(value: Uint8Array): string {
  return Buffer.from(value.subarray(2, 2 + (value[1] ?? 0))).toString();
}
