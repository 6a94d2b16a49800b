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

/**
 * Registers the methods that are not served as raw bytes; see {@link GrpcServerOptions.routes}. A
 * later registration replaces an earlier one.
 */
export interface MethodRouter {
  /** Registers one method. */
  rpc<M extends DescMethod>(method: M, handle: MethodHandler<M>): void;
  /**
   * Registers methods of one service, by their names in lower camel case. Methods without a handler
   * return UNIMPLEMENTED.
   */
  service<S extends DescService>(service: S, handlers: ServiceHandlers<S>): void;
}

/** The handlers of a service. */
export type ServiceHandlers<S extends DescService> = {
  readonly [Name in keyof S["method"]]?: MethodHandler<S["method"][Name]>;
};

/**
 * Answers a call. To reject it, throw an XdsError, whose code and text the client receives. Any
 * other exception is a bug: the client receives INTERNAL and a fixed text, and `onEvent` receives
 * the error.
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

/**
 * The caller: address and port, which do not prove an identity, and the identity from its verified
 * certificate if there is one.
 */
export interface CallPeer {
  /** Address and port of the peer. */
  readonly address: string;
  /** The identity of the peer, by its verified certificate. Absent: unknown. */
  readonly identity?: PeerIdentity;
}

/** The parts of a call that a handler receives. */
export interface MethodCall {
  /** The caller. */
  readonly peer: CallPeer;
  /** Aborts when the client disconnects, the deadline passes or the server closes. */
  readonly signal: AbortSignal;
  /** The headers of the request; names in any case. */
  readonly requestHeader: { get(name: string): string | null };
}
