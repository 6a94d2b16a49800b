/** The two variants of the protocol: state of the world, and incremental. */
export type VariantName = "sotw" | "delta";

/**
 * The field numbers of a request that are read without decoding the rest; 0: the variant has no
 * such field.
 */
export interface RequestFields {
  readonly version: number;
  readonly node: number;
  readonly names: number;
  readonly type: number;
  readonly nonce: number;
}

/**
 * The field numbers of `DiscoveryRequest` and `DeltaDiscoveryRequest`. The name lists of delta are
 * never part of a plain ACK.
 */
export const requestFields: Readonly<Record<VariantName, RequestFields>> = {
  sotw: { version: 1, node: 2, names: 3, type: 4, nonce: 5 },
  delta: { version: 0, node: 1, names: 0, type: 2, nonce: 6 },
};
