import { jsonType, type WebType } from "@xdstp/web";

/** A flag, in the JSON form of `flags.v1.Flag` of the example `flags`. Fields with their default are absent. */
export interface Flag {
  readonly on?: boolean;
  readonly percent?: number;
}

export const flagType: WebType<Flag> = jsonType<Flag>("flags.v1.Flag");

/** The name of the flag that the page shows. */
export const flagName = "xdstp://flags.example/flags.v1.Flag/checkout/new-cart";
