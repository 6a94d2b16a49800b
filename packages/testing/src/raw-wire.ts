import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequest,
  DiscoveryRequestSchema,
  DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";

import type { MemoryStream } from "./create-memory-stream.ts";

/**
 * The messages of each variant: as they are read, and as plain objects to send. Members that are
 * left out are not sent.
 */
export interface RawMessages {
  /** Messages of the delta variant. */
  readonly delta: {
    readonly request: DeltaDiscoveryRequest;
    readonly requestInit: Omit<MessageInitShape<typeof DeltaDiscoveryRequestSchema>, "$typeName">;
    readonly response: DeltaDiscoveryResponse;
    readonly responseInit: Omit<MessageInitShape<typeof DeltaDiscoveryResponseSchema>, "$typeName">;
  };
  /** Messages of the SotW variant. */
  readonly sotw: {
    readonly request: DiscoveryRequest;
    readonly requestInit: Omit<MessageInitShape<typeof DiscoveryRequestSchema>, "$typeName">;
    readonly response: DiscoveryResponse;
    readonly responseInit: Omit<MessageInitShape<typeof DiscoveryResponseSchema>, "$typeName">;
  };
}

/** Reads and decodes the messages of a wire. */
interface Reader<Message> {
  next(): Message;
  rest(): readonly Message[];
}

/** Creates a reader of a wire. */
export function createReader<Message>(
  wire: Pick<MemoryStream, "take">,
  decode: (bytes: Uint8Array) => Message,
): Reader<Message> {
  return {
    next() {
      const bytes = wire.take();
      if (bytes === undefined) throw new Error("a message was expected, and none has come");
      return decode(bytes);
    },
    rest() {
      const messages: Message[] = [];
      for (let bytes = wire.take(); bytes !== undefined; bytes = wire.take())
        messages.push(decode(bytes));
      return messages;
    },
  };
}
