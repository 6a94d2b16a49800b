import {
  XdsError,
  type Committed,
  type Interest,
  type MessageType,
  type Put,
  type Removal,
  type Resource,
  type Transaction,
  type TypedInterest,
} from "@xdstp/core";

import { describeValue, fitsType } from "./reject-put.ts";
import { readName } from "./read-name.ts";

/** A resource whose payload is encoded. */
export interface RawResource extends PutOptions {
  /** `type.googleapis.com/` and the full message name (B-TYPE-1). */
  readonly typeUrl: string;
  /** A name, an opaque one or an xdstp name; never a glob or `*`. */
  readonly name: string;
  /** The encoded message; of the type `typeUrl`. */
  readonly value: Uint8Array;
}

/** What an author may add to the name and content of a resource. */
export interface PutOptions extends Partial<
  Pick<
    Resource,
    "version" | "aliases" | "ttlMs" | "expireMs" | "noStore" | "constraints" | "metadata"
  >
> {
  /** Another type of payload than `typeUrl`: a redirect, or a list collection asked for under the type of its members. */
  readonly payloadTypeUrl?: string;
}

/** The two forms of a put: a resource whose payload is encoded, or a message and its type. */
export interface PutCall<R> {
  /** A resource whose payload is given as bytes. */
  (resource: RawResource): R;
  /** A message, encoded by its type. `options.name` is absent: the name is the one that the message holds. */
  <M>(type: MessageType<M>, message: M, options?: PutOptions & { readonly name?: string }): R;
}

/** Collects what becomes visible at once. */
export interface TransactionWriter {
  /** Adds a resource to the transaction. */
  readonly put: PutCall<void>;
  /** Adds a removal to the transaction. */
  readonly remove: (typeUrl: string, name: string, options?: Pick<Removal, "constraints">) => void;
  /** What is put is all there is of this; the rest of what it covers is removed. */
  readonly complete: (typeUrl: string, interest: Interest) => void;
}

/** Writing by program. Each call is all or nothing: it throws the error of the first resource that is rejected, and then nothing has changed. */
export interface Author {
  /** Writes one resource as a transaction of its own. Throws INVALID_ARGUMENT for one that cannot be kept. */
  readonly put: PutCall<Committed>;
  /** Removing what is not there does nothing. Throws INVALID_ARGUMENT for an xdstp name of another type: there is none under this one, so it was meant otherwise (B-TYPE-5). */
  readonly remove: (
    typeUrl: string,
    name: string,
    options?: Pick<Removal, "constraints">,
  ) => Committed;
  /** Several changes, visible at once as a whole. `write` must not wait for anything. */
  readonly transaction: (
    write: (writer: TransactionWriter) => void,
    options?: {
      /** The `version_info` that SotW shows instead of its own. */
      readonly label?: string;
    },
  ) => Committed;
}

/** The authoring side over a `commit`. */
export function createAuthor(commit: (transaction: Transaction) => Committed): Author {
  const commitWhole = (transaction: Transaction): Committed => {
    const committed = commit(transaction);
    const rejection = committed.rejected?.[0];
    if (rejection !== undefined) throw rejection.error;
    return committed;
  };
  return {
    put: <M>(...args: PutArguments<M>) => commitWhole({ put: [putOf(args)], atomic: true }),
    remove: (typeUrl, name, options) =>
      commitWhole({ remove: [removalOf(typeUrl, name, options)], atomic: true }),
    transaction: (write, { label } = {}) => {
      const draft = createDraft();
      write(draft.writer);
      return commitWhole({
        ...draft.transaction,
        atomic: true,
        ...(label === undefined ? {} : { label }),
      });
    },
  };
}

type PutArguments<M> =
  | [resource: RawResource]
  | [
      type: MessageType<M>,
      message: M,
      options?: (PutOptions & { readonly name?: string }) | undefined,
    ];

function createDraft(): { readonly writer: TransactionWriter; readonly transaction: Transaction } {
  const put: Put[] = [];
  const remove: Removal[] = [];
  const complete: TypedInterest[] = [];
  const writer: TransactionWriter = {
    put: <M>(...args: PutArguments<M>) => {
      put.push(putOf(args));
    },
    remove: (typeUrl, name, options) => {
      remove.push(removalOf(typeUrl, name, options));
    },
    complete: (typeUrl, interest) => {
      complete.push({ typeUrl, interest });
    },
  };
  return { writer, transaction: { put, remove, complete } };
}

function putOf<M>(args: PutArguments<M>): Put {
  return args.length === 1 ? rawPut(args[0]) : typedPut(...args);
}

function typedPut<M>(
  type: MessageType<M>,
  message: M,
  { name, ...options }: PutOptions & { readonly name?: string } = {},
): Put {
  return rawPut({
    ...options,
    typeUrl: type.typeUrl,
    name: name ?? type.nameOf(message),
    value: type.encode(message),
  });
}

function removalOf(
  typeUrl: string,
  name: string,
  options: Pick<Removal, "constraints"> | undefined,
): Removal {
  const read = readName(name);
  if (fitsType(read, typeUrl)) return { typeUrl, name, ...options };
  throw new XdsError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(name)} of ${typeUrl}: the name has the type ${read.type}; remove it under that type`,
    { typeUrl, resource: name, rule: "B-TYPE-5" },
  );
}

/** The cache reads the name before it checks anything. */
function rawPut({ typeUrl, payloadTypeUrl, value, ...resource }: RawResource): Put {
  if (typeof resource.name !== "string")
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${String(resource.name)} of ${typeUrl}: the name is ${describeValue(resource.name)}; give the text by which clients ask for it`,
    );
  return {
    typeUrl,
    resource: { version: "", ...resource, payload: { typeUrl: payloadTypeUrl ?? typeUrl, value } },
  };
}
