/**
 * Access logs to files, standard output and standard error, as TypeScript; and the filters that choose what is logged.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { FileAccessLogSchema } from "@xdstp/protos/envoy/access-log";
 *
 * const bytes = toBinary(FileAccessLogSchema, create(FileAccessLogSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/extensions/access_loggers/file/v3/file_pb.ts";
export * from "./gen/envoy/extensions/access_loggers/stream/v3/stream_pb.ts";
export * from "./gen/envoy/config/accesslog/v3/accesslog_pb.ts";
