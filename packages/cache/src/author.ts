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
  /** The type URL: `type.googleapis.com/` and the full message name (B-TYPE-1). */
  readonly typeUrl: string;
  /** The name: an opaque name or an xdstp name, never a glob or `*`. */
  readonly name: string;
  /** The encoded message of the type `typeUrl`. */
  readonly value: Uint8Array;
}

/** The properties of a resource besides its name and content. */
export interface PutOptions extends Partial<
  Pick<
    Resource,
    "version" | "aliases" | "ttlMs" | "expireMs" | "noStore" | "constraints" | "metadata"
  >
> {
  /**
   * The type URL of the payload, if it is not `typeUrl`: for a redirect, or for a list collection
   * that is put under the type of its members.
   */
  readonly payloadTypeUrl?: string;
}

/** The two forms of a put: a resource whose payload is encoded, or a message and its type. */
export interface PutCall<R> {
  /** A resource whose payload is given as bytes. */
  (resource: RawResource): R;
  /**
   * A message, which its type encodes. Without `options.name`, the name is the one in the message.
   */
  <M>(type: MessageType<M>, message: M, options?: PutOptions & { readonly name?: string }): R;
}

/** Collects the changes of a transaction, which become visible at once. */
export interface TransactionWriter {
  /** Adds a resource to the transaction. */
  readonly put: PutCall<void>;
  /** Adds a removal to the transaction. */
  readonly remove: (typeUrl: string, name: string, options?: Pick<Removal, "constraints">) => void;
  /**
   * Declares that the puts are all resources of this interest; other resources that it covers are
   * removed.
   */
  readonly complete: (typeUrl: string, interest: Interest) => void;
}

/**
 * The functions with which a program writes. Each call is all or nothing: if a resource is
 * rejected, it throws the first error, and nothing has changed.
 */
export interface Author {
  /**
   * Puts one resource, in a transaction of its own. Throws INVALID_ARGUMENT for a resource that
   * cannot be cached.
   */
  readonly put: PutCall<Committed>;
  /**
   * Removes a name; a name that is not cached is ignored. Throws INVALID_ARGUMENT for an xdstp name
   * of another type: no such name can exist under this type, so the call is a mistake (B-TYPE-5).
   */
  readonly remove: (
    typeUrl: string,
    name: string,
    options?: Pick<Removal, "constraints">,
  ) => Committed;
  /** Applies several changes that become visible at once. `write` must be synchronous. */
  readonly transaction: (
    write: (writer: TransactionWriter) => void,
    options?: {
      /** The `version_info` that SotW shows instead of the content version. */
      readonly label?: string;
    },
  ) => Committed;
}

/** Creates the writing functions over a `commit`. */
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

/** Checks that the name is a text, since the cache reads it before any other check. */
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
