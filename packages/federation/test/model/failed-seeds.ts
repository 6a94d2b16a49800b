/** Seeds that failed once, and the defects that they showed. */
export const failedSeeds: readonly {
  readonly seed: number;
  readonly deeds: number;
  readonly globs?: boolean;
  readonly showed: string;
}[] = [
  {
    seed: 13,
    deeds: 150,
    showed: "an alternative stayed in use after its primary had said that there is nothing",
  },
  {
    seed: 15,
    deeds: 150,
    showed:
      "a server did not repeat what a stand-in had replaced after its versions were presented",
  },
  {
    seed: 963,
    deeds: 300,
    showed: "what stood under a name before it led elsewhere came back when it was asked for again",
  },
  {
    seed: 1023,
    deeds: 300,
    showed: "who asked for a name later did not hear that it leads nowhere",
  },
  { seed: 1012, deeds: 300, showed: "a wildcard kept what nobody was asked for any more" },
  {
    seed: 1036,
    deeds: 300,
    showed: "a name that was given up and taken up again in one turn was never asked for",
  },
  {
    seed: 1057,
    deeds: 300,
    showed:
      "a name that leads elsewhere was taken for missing when a collection with it was asked for",
  },
  {
    seed: 1081,
    deeds: 300,
    showed: "what a member led to stayed when the collection came without it",
  },
  {
    seed: 1353,
    deeds: 300,
    showed: "a name that came to be missing while it was late stayed unknown to who followed it",
  },
  {
    seed: 2067,
    deeds: 300,
    showed: "a collection never settled of which a server was silent while another stood in for it",
  },
  {
    seed: 3_458_044,
    deeds: 300,
    showed: "what two collections came without was removed twice in one transaction",
  },
  {
    seed: 3_457_981,
    deeds: 300,
    showed: "what came in the turn in which one gave up a name and another took it up was lost",
  },
  {
    seed: 19_342_926,
    deeds: 300,
    showed: "what a stand-in gave in two forms was dropped twice in one transaction",
  },
  {
    seed: 11_580_115,
    deeds: 300,
    globs: true,
    showed:
      "a member of a glob with an alternative stayed that led elsewhere by what a stand-in gave",
  },
];
