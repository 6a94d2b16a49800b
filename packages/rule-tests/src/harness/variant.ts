/** A variant of the protocol and a kind of stream, as titles name them (B-STREAM-1). */
export type Variant = `${"delta" | "sotw"}/${"ads" | "per-type"}`;

export const everyVariant: readonly Variant[] = [
  "delta/ads",
  "delta/per-type",
  "sotw/ads",
  "sotw/per-type",
];
export const deltaVariants: readonly Variant[] = everyVariant.filter((variant) => isDelta(variant));
export const sotwVariants: readonly Variant[] = everyVariant.filter((variant) => !isDelta(variant));
export const adsVariants: readonly Variant[] = everyVariant.filter((variant) => isAds(variant));
export const perTypeVariants: readonly Variant[] = everyVariant.filter(
  (variant) => !isAds(variant),
);

export function isDelta(variant: Variant): boolean {
  return variant.startsWith("delta/");
}

export function isAds(variant: Variant): boolean {
  return variant.endsWith("/ads");
}
