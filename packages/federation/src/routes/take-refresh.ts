import type { Refresh } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { variantId } from "../links/kept.ts";
import { routeIn, type Taking } from "./taking.ts";

/** What a server says to go on being there (C-TTL-3): also where it is delivered under another name, or is what leads there. */
export function takeRefresh(taking: Taking, refresh: Refresh): void {
  const { books, link, pass } = taking;
  const { typeUrl, name, expireMs } = refresh;
  const route = routeIn(taking, name);
  if (route === undefined) return;
  pass.refresh.push(refresh);
  if (route.plain) return;
  const key = nameKey(name);
  const redirect = route.redirect(typeUrl, key);
  if (redirect?.link === link) books.redirects.expire(route, redirect, expireMs);
  for (const { kept } of route.asks.of(typeUrl, key)) kept.refresh(variantId(refresh), expireMs);
}
