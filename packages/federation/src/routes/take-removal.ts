import {
  type Removal,
  matchesConstraints,
  readConstraints,
  type Interest,
  type TypedInterest,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { removalOf, variantId } from "../links/kept.ts";
import { change, isNamed, isSaid, leaveOut, noteUnheard, routeIn, type Taking } from "./taking.ts";
import type { Ask, Route } from "./route.ts";
import { coveredBy, notFound } from "./ask.ts";
import { isLeadingElsewhere } from "./owing.ts";

/** Applies a removal: the server reports that a name does not exist. */
export function takeRemoval(taking: Taking, removal: Removal): void {
  const { typeUrl, name } = removal;
  const route = routeIn(taking, name);
  if (route === undefined) {
    noteUnheard(taking, { typeUrl, interest: { name } });
    return;
  }
  taking.updates.add(route);
  const key = nameKey(name);
  // An opaque name may be the name of a resource that is cached under an alias.
  if (route.plain || !key.startsWith("xdstp:") || route.asks.ofReaders(typeUrl, key).length > 0)
    taking.pass.remove.push(removal);
  const isLink = takeGone(taking, route, removal);
  const own = removalOf(typeUrl, name, undefined);
  // The target of the redirect is cached under the name itself.
  if (isLink && removal.constraints !== undefined && !isSaid(taking, own)) leaveOut(taking, own);
}

/**
 * Applies a removal for the followers of a name. Returns true if the removed variant was a
 * redirect.
 */
export function takeGone(taking: Taking, route: Route, removal: Removal): boolean {
  const { typeUrl, name, error = notFound(typeUrl, name) } = removal;
  const key = nameKey(name);
  if (route.answers.waits) route.answers.note(route.asks.ofName(typeUrl, key));
  if (route.plain) return false;
  const redirect = route.redirect(typeUrl, key);
  const isLink =
    redirect !== undefined &&
    (removal.constraints === undefined || variantId(redirect) === variantId(removal));
  if (isLink) taking.books.redirects.drop(redirect);
  for (const ask of route.asks.ofName(typeUrl, key))
    change(taking, ask, () => {
      ask.kept.remove(variantId(removal));
      if (ask.kept.size === 0) ask.missing = error;
    });
  return isLink;
}

/** Applies a `complete`: the put resources are the whole state of an interest, and all others are removed. */
export function takeComplete(taking: Taking, complete: TypedInterest): void {
  const { route, ask } = asked(taking, complete);
  if (route === undefined) return;
  taking.updates.add(route);
  if (!route.plain)
    for (const removal of absent(taking, route, complete)) takeAbsent(taking, route, removal);
  if (ask !== undefined) noteWhole(route, ask);
  if (ask?.direct === false) return;
  if (ask !== undefined && isLeadingElsewhere(ask)) completeInParts(taking, ask, complete);
  else taking.pass.complete.push(complete);
}

/**
 * Applies a `settled`: the state of an interest is known now. If the answers of this server do not
 * count yet, it is recorded for later.
 */
export function takeSettled(taking: Taking, settled: TypedInterest): void {
  const { route, ask } = asked(taking, settled);
  if (route === undefined) {
    noteUnheard(taking, settled);
    return;
  }
  if (ask !== undefined) noteWhole(route, ask);
  if (ask?.direct === false) return;
  if (ask !== undefined && isLeadingElsewhere(ask)) taking.owed.push(ask);
  else taking.pass.settled.push(settled);
}

function asked(
  taking: Taking,
  { typeUrl, interest }: TypedInterest,
): { readonly route?: Route; readonly ask?: Ask | undefined } {
  const route = routeIn(taking, interest.name);
  return route === undefined ? {} : { route, ask: route.find(typeUrl, interest) };
}

function noteWhole(route: Route, ask: Ask): void {
  route.answers.note([ask]);
  if (ask.kind === "name") return;
  ask.settled = true;
  for (const side of ask.sides) side.touch();
}

/** Applies the removal of a member. A member that leads to another server is not cached under its name for this server, so it is removed by name. */
function takeAbsent(taking: Taking, route: Route, removal: Removal): void {
  const { typeUrl, name } = removal;
  if (takeGone(taking, route, removal)) leaveOut(taking, { typeUrl, name });
}

/** Completes a collection whose members partly lead to other servers. Such members are not in the response, but are not removed. */
function completeInParts(taking: Taking, ask: Ask, { typeUrl, interest }: TypedInterest): void {
  for (const { name, constraints } of taking.link.part.held(typeUrl, interest)) {
    const removal = removalOf(typeUrl, name, constraints);
    if (!isSaid(taking, removal)) leaveOut(taking, removal);
  }
  taking.owed.push(ask);
}

/**
 * Returns the removals of resources of an interest that this server sent before, that are not in the transaction, and that are not cached under their own name: each variant for the parameters of the interest (TP2),
 * and each name that the transaction does not mention.
 */
function absent(
  taking: Taking,
  route: Route,
  { typeUrl, interest }: TypedInterest,
): readonly Removal[] {
  const isIn = coveredBy(interest);
  const redirects = [...taking.books.redirects.from(taking.link)]
    .filter((redirect) => redirect.typeUrl === typeUrl && isIn(redirect.key))
    .map(({ name, constraints }) => removalOf(typeUrl, name, constraints));
  const followed = [...route.asks.followed].filter(
    (other) => other.typeUrl === typeUrl && other.kind === "name" && isIn(other.key),
  );
  const kept = followed.flatMap(({ interest: { name }, kept: variants }) =>
    Array.from(variants, ({ resource: { constraints } }) => removalOf(typeUrl, name, constraints)),
  );
  const names = new Set(
    followed
      .filter(({ key }) => route.redirect(typeUrl, key)?.constraints === undefined)
      .map(({ interest: { name } }) => name),
  );
  return [
    ...[...redirects, ...kept].filter((one) => isFor(one, interest) && !isSaid(taking, one)),
    ...[...names]
      .filter((name) => !isNamed(taking, typeUrl, name))
      .map((name) => removalOf(typeUrl, name, undefined)),
  ];
}

function isFor({ constraints }: Removal, { parameters }: Interest): boolean {
  const read =
    constraints === undefined || parameters === undefined
      ? undefined
      : readConstraints(constraints);
  return (
    read === undefined ||
    (read.fault === undefined && matchesConstraints(read.constraints, parameters))
  );
}
