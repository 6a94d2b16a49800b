import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import {
  type ByteStream,
  type ByteStreamHandler,
  type Message,
  type Status,
  StatusCode,
} from "@xdstp/core";
import { decodeText, walkFields, WireType } from "@xdstp/core/wire";
import { formatProblem, type ResponseFile } from "@xdstp/folder/files";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";

import type { FileEvent } from "./file-event.ts";
import type { FileState } from "./follow-file.ts";

/** Options of {@link openFileStream}. */
export interface FileStreamOptions {
  readonly file: string;
  /** The type that the stream requests. */
  readonly typeUrl: string;
  readonly onEvent: (event: FileEvent) => void;
  /** Returns true if a stream of the type has ended with this problem before its first response. Notes the problem, unless this stream has had a response. */
  readonly isReported: (problem: string, hadResponse: boolean) => boolean;
  /** Called once, before the handler learns of the end. */
  readonly onEnd: () => void;
}

/** A SotW stream of the resources in a file. */
export interface FileStream extends ByteStream {
  /** Passes on what was read of the file. */
  update(state: FileState): void;
  /** Ends the stream. */
  end(status: Status): void;
}

/** Opens a SotW stream whose server is a file. It is `opening` until the file is read, or is known not to exist. */
export function openFileStream(handler: ByteStreamHandler, options: FileStreamOptions): FileStream {
  return new FileResponses(handler, options);
}

class FileResponses implements FileStream {
  opening = true;
  readonly #handler: ByteStreamHandler;
  readonly #options: FileStreamOptions;
  /** The newest request of the client. Absent: it has sent none, so no response is due. */
  #request: DiscoveryRequest | undefined;
  /** The newest valid content of the file. */
  #content: ResponseFile | undefined;
  /** The response that the client has not answered yet. */
  #inFlight: { readonly nonce: string; readonly content: ResponseFile } | undefined;
  /** True if the client is owed the newest content, after the answer to the response in flight. */
  #isDue = false;
  #responses = 0;
  #isOver = false;

  constructor(handler: ByteStreamHandler, options: FileStreamOptions) {
    this.#handler = handler;
    this.#options = options;
  }

  send({ bytes }: Message): boolean {
    if (this.#isOver) return true;
    const request = fromBinary(DiscoveryRequestSchema, bytes);
    const before = this.#request;
    this.#request = request;
    const { content, nonce } = this.#inFlight ?? {};
    if (content !== undefined && request.responseNonce === nonce) {
      this.#inFlight = undefined;
      this.#reportAnswer(request, content);
    }
    if (before === undefined || !hasSameNames(before, request)) this.#isDue = true;
    // The handler must not be called while the client still sends.
    queueMicrotask(() => {
      this.#respond();
    });
    return true;
  }

  close(status: Status): void {
    this.end(status);
  }

  update(state: FileState): void {
    if (this.#isOver) return;
    const problem = this.#problemOf(state);
    if (problem !== undefined) {
      if (!this.#options.isReported(problem, this.#responses > 0))
        this.end({ code: StatusCode.UNAVAILABLE, message: problem });
      return;
    }
    if (this.opening) {
      this.opening = false;
      this.#handler.onOpened?.();
    }
    if (state.kind !== "response") return;
    this.#content = state.file;
    this.#isDue = true;
    this.#respond();
  }

  end(status: Status): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd();
    queueMicrotask(() => {
      this.#handler.onClosed(status);
    });
  }

  /** Returns the reason why the file has nothing for this stream, as one line. */
  #problemOf(state: FileState): string | undefined {
    if (state.kind === "invalid") return formatProblem(state.problem);
    if (state.kind === "missing") return undefined;
    const { typeUrl } = state.file.response;
    return typeUrl === "" || typeUrl === this.#options.typeUrl
      ? undefined
      : `${this.#options.file}: the type_url is ${JSON.stringify(typeUrl)}, but ${this.#options.typeUrl} is requested`;
  }

  #respond(): void {
    const content = this.#content;
    if (this.#isOver || !this.#isDue || content === undefined) return;
    if (this.#request === undefined || this.#inFlight !== undefined) return;
    this.#isDue = false;
    const nonce = String(++this.#responses);
    this.#inFlight = { nonce, content };
    const response = create(DiscoveryResponseSchema, {
      ...content.response,
      typeUrl: this.#options.typeUrl,
      nonce,
    });
    this.#handler.onMessage(toBinary(DiscoveryResponseSchema, response));
  }

  #reportAnswer({ errorDetail }: DiscoveryRequest, { response, lineOf }: ResponseFile): void {
    const { file: path, typeUrl, onEvent } = this.#options;
    const { versionInfo: version, resources } = response;
    if (errorDetail === undefined) {
      onEvent({ kind: "accepted", path, typeUrl, version, resources: resources.length });
      return;
    }
    const line = lineOf(indexOfFirst(errorDetail.message, response));
    const place = line === undefined ? path : `${path}:${String(line)}`;
    onEvent({
      kind: "rejected",
      path,
      typeUrl,
      version,
      message: `${place}: ${errorDetail.message}`,
    });
  }
}

function hasSameNames(a: DiscoveryRequest, b: DiscoveryRequest): boolean {
  const names = new Set(a.resourceNames);
  return (
    names.size === new Set(b.resourceNames).size && b.resourceNames.every((one) => names.has(one))
  );
}

/** Returns the index of the resource whose name begins the reason of a rejection, as `"web": ...`. -1: there is none. */
function indexOfFirst(reason: string, { resources }: DiscoveryResponse): number {
  const [quoted] = /^"(?:[^"\\]|\\.)*"/.exec(reason) ?? [];
  return quoted === undefined
    ? -1
    : resources.findIndex((one) => JSON.stringify(nameOf(one)) === quoted);
}

/** Returns the name in a wrapper, or the first field of a payload, which is the name in all types of Envoy. `undefined`: it has none, or cannot be read. */
function nameOf({ typeUrl, value }: Any): string | undefined {
  if (typeUrl.endsWith(`/${ResourceSchema.typeName}`)) {
    try {
      const { name, resourceName } = fromBinary(ResourceSchema, value);
      return name === "" ? resourceName?.name : name;
    } catch {
      return undefined;
    }
  }
  let name: string | undefined;
  walkFields(value, (number, start, end, wireType) => {
    if (number === 1 && wireType === WireType.LENGTH_DELIMITED)
      name = decodeText(value, start, end);
    return name === undefined;
  });
  return name;
}
