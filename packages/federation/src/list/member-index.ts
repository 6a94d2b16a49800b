import type { ListMember } from "./list-member.ts";
import type { ListPart } from "./list-part.ts";

/** The members of a list in their order. A change of one of them costs the same however many there are: but for a copy of the array no other one is looked at. */
export class MemberIndex {
  /** The same array until something of it changes. */
  members: readonly ListMember[] = [];
  #places = new Map<ListPart, number>();
  readonly #woken = new Set<ListPart>();
  readonly #unsettled = new Set<ListPart>();
  /** Which places have changed since an array was `members`; undefined: so has the order. */
  #since: { readonly members: readonly ListMember[]; readonly places: Set<number> | undefined } = {
    members: [],
    places: new Set(),
  };

  /** Something is known of each. */
  get settled(): boolean {
    return this.#unsettled.size === 0;
  }

  /** Another list of parts: each is looked at. */
  replace(order: readonly ListPart[]): void {
    this.#places = new Map(order.map((part, place) => [part, place]));
    this.#woken.clear();
    this.#unsettled.clear();
    for (const part of order) if (!part.settled) this.#unsettled.add(part);
    const members = order.map(({ member }) => member);
    if (
      members.length === this.members.length &&
      members.every((member, place) => member === this.members[place])
    )
      return;
    this.members = members;
    this.#since = { members: this.#since.members, places: undefined };
  }

  /** Something of it may have changed. */
  wake(part: ListPart): void {
    this.#woken.add(part);
  }

  /** Looks at what may have changed. */
  look(): void {
    let members: ListMember[] | undefined;
    for (const part of this.#woken) {
      const place = this.#places.get(part);
      if (place === undefined) continue;
      const { member } = part;
      if (part.settled) this.#unsettled.delete(part);
      else this.#unsettled.add(part);
      if (member === this.members[place]) continue;
      members ??= this.members.slice();
      members[place] = member;
      this.#since.places?.add(place);
    }
    this.#woken.clear();
    if (members !== undefined) this.members = members;
  }

  /** The places that have changed since `before` was `members`, as long as one reader asks; undefined: any may have. */
  changedSince(before: readonly ListMember[]): readonly number[] | undefined {
    const { members, places } = this.#since;
    this.#since = { members: this.members, places: new Set() };
    return before === members && places !== undefined
      ? [...places].sort((one, other) => one - other)
      : undefined;
  }
}
