import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { PeerIdentity } from "@xdstp/core";

/** Registers the methods that are not served as raw bytes; see {@link GrpcServerOptions.routes}. What it is given later replaces what it was given before. */
export interface MethodRouter {
  /** One method. */
  rpc<M extends DescMethod>(method: M, handle: MethodHandler<M>): void;
  /** Methods of one service, by their names in lower camel case. Those without a handler answer UNIMPLEMENTED. */
  service<S extends DescService>(service: S, handlers: ServiceHandlers<S>): void;
}

/** The handlers of a service. */
export type ServiceHandlers<S extends DescService> = {
  readonly [Name in keyof S["method"]]?: MethodHandler<S["method"][Name]>;
};

/**
 * Answers a call. It rejects with an XdsError, whose code and text the client receives; whatever else it throws is a bug:
 * the client receives INTERNAL and a fixed text, and `onEvent` the error.
 */
export type MethodHandler<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? (
        request: MessageShape<I>,
        call: MethodCall,
      ) => MessageInitShape<O> | Promise<MessageInitShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: MethodCall) => AsyncIterable<MessageInitShape<O>>
      : M extends DescMethodClientStreaming<infer I, infer O>
        ? (
            requests: AsyncIterable<MessageShape<I>>,
            call: MethodCall,
          ) => Promise<MessageInitShape<O>>
        : M extends DescMethodBiDiStreaming<infer I, infer O>
          ? (
              requests: AsyncIterable<MessageShape<I>>,
              call: MethodCall,
            ) => AsyncIterable<MessageInitShape<O>>
          : never;

/** Who calls: address and port, which prove nothing, and the identity from the verified certificate of the client where it has shown one. */
export interface CallPeer {
  /** Address and port of the peer. */
  readonly address: string;
  /** The identity of the peer, by its verified certificate. Absent: unknown. */
  readonly identity?: PeerIdentity;
}

/** What a handler knows of its call. */
export interface MethodCall {
  /** Who calls. */
  readonly peer: CallPeer;
  /** Aborts when the client goes away, the deadline passes or the server closes. */
  readonly signal: AbortSignal;
  /** The headers of the request; names in any case. */
  readonly requestHeader: { get(name: string): string | null };
}
