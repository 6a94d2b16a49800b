/** Whether the raw path reads a body of this type: `application/grpc` or `application/grpc+proto`, in any case, parameters ignored. */
export function isGrpcContentType(value: string | undefined): boolean {
  return value !== undefined && /^application\/grpc(?:\+proto)?[ \t]*(?:;|$)/i.test(value);
}

/** Whether the peer speaks gRPC at all, and so reads a status from trailers. */
export function speaksGrpc(value: string | undefined): boolean {
  return value !== undefined && /^application\/grpc(?:[+;]|$)/i.test(value);
}
