import {
  type ByteStream,
  type ByteStreamHandler,
  type NodeInfo,
  type PeerIdentity,
  type Status,
  StatusCode,
} from "@xdstp/core";
import { findType, MAX_TYPE } from "../wire/find-type.ts";
import { scanRequest } from "../wire/scan-request.ts";
import { isText } from "../wire/is-text.ts";
import type { Frame } from "../delivery/frame.ts";
import { lengthOfNode, nodeAfter, checkNode } from "./node-info.ts";
import {
  createRequestPacer,
  type PacedStream,
  type RequestPacer,
  type RequestWeight,
} from "./request-pacer.ts";
import type { StreamLimits } from "./limits.ts";
import type { OrderedType } from "../order/ordered-type.ts";
import { createOrdering, type OrderedStream, type Ordering } from "../order/ordering.ts";
import type { Drainable } from "./scheduler.ts";
import type { ServerContext } from "./server-context.ts";
import type { TypeOrigin } from "./server-variant.ts";
import type { StreamInfo } from "./stream-event.ts";
import type { DecodedRequest, TypeHost, TypeMachine } from "./type-machine.ts";
import type { StreamStatus } from "../delivery/type-status.ts";
import type { TypeView } from "../delivery/type-view.ts";

/** One call, with what the server knows about it. */
export interface ServerCall {
  /** The address of the peer, for people. */
  readonly peer: string;
  /** The type URL of a per-type service. Absent: ADS. */
  readonly typeUrl?: string;
  /** The identity of the peer, if the wire has verified it. Absent: unknown. */
  readonly identity?: PeerIdentity;
}

/** One variant of the protocol: how requests are read and how a type is served. */
export interface Variant<Request extends DecodedRequest> {
  /** The name of the variant. */
  readonly name: "delta" | "sotw";
  /** Decodes a request. Throws if the bytes are not a request of this variant. */
  decode(message: Uint8Array): Request;
  /** Returns the number of names in a request and, in SotW, the hash of the list (S-LIM-2). */
  weigh(request: Request): Pick<RequestWeight, "names" | "list">;
  /** Creates the state machine of one type on one stream. */
  createType(origin: TypeOrigin): TypeMachine<Request>;
}

/** A served stream. */
export interface ServerStream extends ByteStreamHandler {
  /** The stream, for events and status. */
  readonly info: StreamInfo;
  /** True if it is open and its wire accepts more. */
  readonly canSend: boolean;
  /** Returns the status of the stream and its types, as operators read it (S-ACK-9). */
  status(): StreamStatus;
  /** Returns its types, for reports on single names and for waits. */
  views(): readonly TypeView[];
  /**
   * Returns whether a revision may have changed something for its client, as `changedBy` of its
   * source does.
   */
  changedBy(revision: number): boolean;
  /**
   * Puts what was taken to be sent later back among what is pending: the client may be allowed to
   * see something else by now.
   */
  thaw(): void;
  /** Ends the stream from this side. */
  end(code: number, message: string): void;
}

let streams = 0;

/**
 * Serves one call: routes messages to types, keeps the order of sending, and stores the node of the
 * first message.
 */
export function createServerStream<Request extends DecodedRequest>(
  context: ServerContext,
  variant: Variant<Request>,
  call: ServerCall,
  out: ByteStream,
): ServerStream {
  const stream = new Stream(context, variant, call, out);
  context.emit?.({ kind: "connect", stream });
  return stream;
}

class Stream<Request extends DecodedRequest>
  implements ServerStream, StreamInfo, TypeHost, OrderedStream, PacedStream, Drainable
{
  readonly id: number = ++streams;
  readonly peer: string;
  readonly service?: string;
  readonly identity?: PeerIdentity;
  node: NodeInfo | undefined;
  lastNonce = 0;
  queued = false;
  readonly #context: ServerContext;
  readonly #variant: Variant<Request>;
  readonly #out: ByteStream;
  readonly #connectedAt: number;
  readonly #pacer: RequestPacer;
  /** Created when the stream has a second type. */
  #ordering: Ordering | undefined;
  #types: readonly TypeMachine<Request>[] = [];
  /** Frames that the wire has not accepted yet. */
  #outbox: Frame[] = [];
  /** The number of bytes of a large message in which its type was searched for. */
  #searched = 0;
  #writable = true;
  #open = true;
  /** True if the peer has said that it sends no more. */
  #ended = false;

  constructor(
    context: ServerContext,
    variant: Variant<Request>,
    call: ServerCall,
    out: ByteStream,
  ) {
    this.#context = context;
    this.#variant = variant;
    this.#out = out;
    this.#connectedAt = context.clock.wallTime();
    this.#pacer = createRequestPacer(context, this);
    this.peer = call.peer;
    if (call.typeUrl !== undefined) this.service = call.typeUrl;
    if (call.identity !== undefined) this.identity = call.identity;
  }

  get info(): StreamInfo {
    return this;
  }
  get viewKey(): string | undefined {
    return this.#context.source.viewKey;
  }

  changedBy(revision: number): boolean {
    return this.#context.source.changedBy?.(revision) ?? true;
  }
  get variant(): "delta" | "sotw" {
    return this.#variant.name;
  }
  get types(): readonly TypeMachine<Request>[] {
    return this.#types;
  }
  get canSend(): boolean {
    return this.#open && this.#writable;
  }

  onMessage(message: Uint8Array): void {
    if (!this.#open) return;
    this.#searched = 0;
    if (!this.#plainAck(message)) this.#pacer.take(message);
    for (const machine of this.#types) if (isWaiting(machine)) this.schedule();
  }

  onDrained(): void {
    this.#writable = true;
    this.#flush();
    this.schedule();
  }

  /** Due responses are sent before the call is closed. */
  onEnd(): void {
    this.#ended = true;
    this.schedule();
  }

  onClosed(status: Status): void {
    if (!this.#open) return;
    this.#open = false;
    this.#outbox = [];
    this.#pacer.stop();
    this.#ordering?.stop();
    for (const machine of this.#types) machine.close();
    this.#context.emit?.({
      kind: "disconnect",
      stream: this,
      code: status.code,
      message: status.message,
    });
  }

  /**
   * Returns whether a message above the ordinary limit may be read. The first message of a type may
   * be large, since it has names and versions (S-SIZE-5).
   */
  admits(length: number, prefix: Uint8Array): boolean | undefined {
    if (this.service !== undefined) return this.#types.length === 0;
    const found = findType(prefix, this.variant, this.#searched);
    if (found.found) return this.sibling(found.type) === undefined;
    this.#searched = found.at;
    return found.more && prefix.length < length ? undefined : false;
  }

  end(code: number, message: string, limit?: keyof StreamLimits): void {
    if (!this.#open) return;
    if (limit !== undefined) this.#context.limited.count(limit);
    this.onClosed({ code, message });
    this.#out.close({ code, message });
  }

  status(): StreamStatus {
    return {
      id: this.id,
      variant: this.variant,
      peer: this.peer,
      node: this.node,
      connectedAt: this.#connectedAt,
      ...(this.service === undefined ? {} : { service: this.service }),
      ...(this.identity === undefined ? {} : { identity: this.identity }),
      ...(this.viewKey === undefined ? {} : { viewKey: this.viewKey }),
      types: this.#types.map((machine) => machine.status()),
    };
  }

  views(): readonly TypeView[] {
    return this.#types.map((machine) => machine.view());
  }

  sibling(typeUrl: string): TypeMachine<Request> | undefined {
    for (const machine of this.#types) if (machine.typeUrl === typeUrl) return machine;
    return undefined;
  }

  thaw(): void {
    this.#ordering?.thaw();
  }

  schedule(): void {
    if (this.#open && !this.queued) this.#context.scheduler.add(this);
  }

  send(frames: readonly Frame[]): void {
    this.lastNonce = frames.at(-1)?.nonce ?? this.lastNonce;
    const only = frames.length === 1 ? frames[0] : undefined;
    if (only !== undefined && this.#writable && this.#outbox.length === 0)
      this.#writable = this.#out.send(only);
    else this.#outbox.push(...frames);
    this.#flush();
  }

  act(message: Uint8Array): RequestWeight | undefined {
    const request = this.#open ? this.#decode(message) : undefined;
    if (request === undefined) return undefined;
    this.#request(request);
    return {
      typeUrl: request.typeUrl,
      rejects: request.error !== undefined,
      ...this.#variant.weigh(request),
    };
  }

  read(on: boolean): void {
    if (on) this.#out.resume?.();
    else this.#out.pause?.();
  }

  drain(): void {
    if (this.#pacer.waits) this.#pacer.turn(this.#ended);
    if (!this.#open) return;
    if (this.#ordering === undefined) this.#drainAlone();
    else this.#ordering.drain();
    if (this.#ended && this.#outbox.length === 0) this.end(StatusCode.OK, "");
  }

  #flush(): void {
    while (this.#writable) {
      const frame = this.#outbox.shift();
      if (frame === undefined) return;
      this.#writable = this.#out.send(frame);
    }
  }

  #drainAlone(): void {
    const machine = this.#types[0];
    if (machine === undefined || !this.canSend || machine.inFlight) return;
    if (machine.pending || machine.heldFrom < Infinity) machine.drain(Infinity);
  }

  #plainAck(message: Uint8Array): boolean {
    const scan = scanRequest(message, this.variant);
    if (!scan.plain) return false;
    const alone = scan.typeEnd === scan.typeStart && this.service !== undefined;
    for (const machine of this.#types) {
      if (alone || isText(message, scan.typeStart, scan.typeEnd, machine.typeUrl))
        return this.#answered(machine.plainAck(scan, message), alone ? "" : machine.typeUrl);
    }
    return false;
  }

  #answered(isPlain: boolean, typeUrl: string): boolean {
    if (isPlain && this.#pacer.waits) this.#pacer.supersede(typeUrl);
    return isPlain;
  }

  #decode(message: Uint8Array): Request | undefined {
    try {
      return this.#variant.decode(message);
    } catch {
      this.end(StatusCode.INVALID_ARGUMENT, "the request cannot be decoded");
      return undefined;
    }
  }

  #request(request: Request): void {
    const problem = checkNode(this.node, request.node) ?? this.#checkType(request.typeUrl);
    if (problem !== undefined) {
      this.end(StatusCode.INVALID_ARGUMENT, problem);
      return;
    }
    const excess = this.#excessOf(request);
    if (excess !== undefined) {
      this.end(StatusCode.RESOURCE_EXHAUSTED, ...excess);
      return;
    }
    this.node = nodeAfter(this.node, request.node);
    const typeUrl = this.service ?? request.typeUrl;
    const machine = this.sibling(typeUrl) ?? this.#add(typeUrl);
    machine?.request(request);
    this.#checkNames();
  }

  /**
   * Ends the stream if all its types together have too many subscriptions. Each type has a limit of
   * its own; this one limits the memory of the stream.
   */
  #checkNames(): void {
    const { streamSubscriptions, streamNameLength } = this.#context.limits;
    const names = this.#types.reduce((sum, { subscriptions }) => sum + subscriptions, 0);
    const length = this.#types.reduce((sum, { nameLength }) => sum + nameLength, 0);
    if (names > streamSubscriptions)
      this.end(
        StatusCode.RESOURCE_EXHAUSTED,
        `more than ${streamSubscriptions} subscriptions of all types`,
        "streamSubscriptions",
      );
    else if (length > streamNameLength)
      this.end(
        StatusCode.RESOURCE_EXHAUSTED,
        `the names of all subscriptions are longer than ${streamNameLength} characters`,
        "streamNameLength",
      );
  }

  #checkType(typeUrl: string): string | undefined {
    if (this.service === undefined) return typeUrl === "" ? "type_url is missing" : undefined;
    return typeUrl === "" || typeUrl === this.service
      ? undefined
      : "type_url is not the type of this service";
  }

  /**
   * Returns the limit that a request exceeds. Everything that is stored for the life of the stream
   * has a limit (S-LIM-4).
   */
  #excessOf({
    node,
    typeUrl,
  }: Request): readonly [message: string, limit: keyof StreamLimits] | undefined {
    const { nodeLength } = this.#context.limits;
    if (typeUrl.length > MAX_TYPE) return [`type_url is longer than ${MAX_TYPE}`, "types"];
    return node !== undefined && lengthOfNode(node) > nodeLength
      ? [`the node is longer than ${nodeLength} without its extensions and metadata`, "nodeLength"]
      : undefined;
  }

  #add(typeUrl: string): TypeMachine<Request> | undefined {
    if (this.#types.length >= this.#context.limits.types) {
      this.end(
        StatusCode.RESOURCE_EXHAUSTED,
        `more than ${this.#context.limits.types} types on one stream`,
        "types",
      );
      return undefined;
    }
    const machine = this.#variant.createType({
      context: this.#context,
      host: this,
      typeUrl: this.#context.source.descriptor(typeUrl)?.typeUrl ?? typeUrl,
      stream: this,
    });
    this.#types = this.#types.concat(machine).sort((a, b) => a.rank - b.rank);
    if (this.#types.length > 1) this.#ordering ??= createOrdering(this.#context, this);
    return machine;
  }
}

/** Returns true if an answer may cause something of the type to be sent. */
function isWaiting({ pending, taken, heldFrom, heldBack, mayRetry }: OrderedType): boolean {
  return pending || taken || heldFrom < Infinity || heldBack.size > 0 || mayRetry;
}
