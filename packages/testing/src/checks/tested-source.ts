import type { ResourceSource, Transaction, XdsError } from "@xdstp/core";

/** A source, and the place from which it reads. */
export interface TestedSource {
  /** The source, without any resource. */
  readonly source: ResourceSource;
  /**
   * Applies a transaction to the place from which the source reads. When it returns or resolves,
   * the change is visible in the source.
   */
  readonly commit: (transaction: Transaction) => unknown;
  /**
   * Reports that resources of a type cannot be fetched, or again can. Absent: the source does not
   * show this, and it is not checked.
   */
  readonly unavailable?: (typeUrl: string, error: XdsError | undefined) => void;
  /** Stops what belongs to the source. Absent: there is nothing to stop. */
  close?(): void | Promise<void>;
}
