/** The members of a contract, each of them required: a class that implements it does not compile while a member is missing. */
export type EveryMember<Contract> = {
  readonly [Member in keyof Required<Contract>]: Contract[Member];
};
