/** A call from one package into another. */
export interface Crossing {
  readonly from: string;
  readonly to: string;
  /** The function that is called, with its file. */
  readonly callee: string;
  /** The package that is called is waiting for this very call to end: the call goes back to where it came from. */
  readonly isBack: boolean;
}

/** Notes calls while something is measured. */
export interface CallNotes {
  /** The begin of a call of `package/file#function`. Returns what notes its end. */
  readonly begin: (place: string) => () => void;
  /** Returns the calls from one package into another that `run` makes, in their order. */
  readonly of: (run: () => void | Promise<void>) => Promise<readonly Crossing[]>;
}

/** Makes notes that are empty. */
export function createCallNotes(): CallNotes {
  let noted: Crossing[] | undefined;
  const open: string[] = [];
  return {
    begin(place) {
      const to = packageOf(place);
      const from = open.at(-1);
      if (from !== undefined && from !== to)
        noted?.push({ from, to, callee: place.slice(to.length + 1), isBack: open.includes(to) });
      open.push(to);
      return () => open.pop();
    },
    async of(run) {
      const crossings: Crossing[] = (noted = []);
      try {
        await run();
      } finally {
        noted = undefined;
      }
      return crossings;
    },
  };
}

function packageOf(place: string): string {
  return place.slice(0, place.indexOf("/"));
}

/** Prints crossings, equal ones that follow each other once. */
export function printCrossings(crossings: readonly Crossing[]): string {
  const lines = crossings.map(
    ({ from, to, callee, isBack }) => `${from} ${isBack ? "=> back to" : "->"} ${to}: ${callee}`,
  );
  return lines.filter((line, index) => line !== lines[index - 1]).join("\n");
}
