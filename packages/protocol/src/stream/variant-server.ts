import type { ByteStream } from "@xdstp/core";
import { createServedType } from "./served-type.ts";
import type { ServerContext } from "./server-context.ts";
import {
  createServerStream,
  type ServerCall,
  type ServerStream,
  type Variant,
} from "./server-stream.ts";
import type { Gathered, ServedType, ServerVariant } from "./server-variant.ts";
import type { DecodedRequest } from "./type-machine.ts";

/** A server of one variant of the protocol. */
export interface VariantServer {
  /**
   * Serves one call, ADS or per type. The source has to be ready (S-STREAM-9).
   * @param own - The context of this call, if it has a source of its own, for instance a filter
   * over the source of this server. Default: the context of this server
   */
  open(call: ServerCall, out: ByteStream, own?: ServerContext): ServerStream;
}

/**
 * Creates the server of a variant.
 * @param context - The context that all streams share; servers of other variants may share it too
 * @param variant - How requests are read and, as `types`, how a type is served
 */
export function createVariantServer<
  Request extends DecodedRequest,
  State extends ServedType<Response, Before>,
  Response extends Gathered,
  Before,
>(
  context: ServerContext,
  {
    types,
    ...requests
  }: Pick<Variant<Request>, "name" | "decode" | "weigh"> & {
    readonly types: ServerVariant<Request, State, Response, Before>;
  },
): VariantServer {
  const variant: Variant<Request> = {
    ...requests,
    createType: (origin) => createServedType(types, origin),
  };
  return { open: (call, out, own = context) => createServerStream(own, variant, call, out) };
}
