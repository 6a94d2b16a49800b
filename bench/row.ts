/** One line of the table: one measure of one case, side by side in one run. */
export interface Row {
  readonly case: string;
  readonly measure: string;
  readonly unit: string;
  readonly floor?: number;
  readonly connect?: number;
  /** Absent where the case was not run; `note` says why. */
  readonly xdstp?: number;
  /** xdstp to the floor: the median over pairs of runs, each pair taken one after the other. */
  readonly ratio?: number;
  readonly target?: Target;
  readonly met?: boolean;
  readonly note?: string;
}

/** The aim of a row: a ratio to the floor, or a value in the unit of the row. */
export interface Target {
  readonly of: "ratio" | "value";
  readonly atMost: number;
}

/** Says whether a row meets its target; a row without one, or without a value, stays as it is. */
export function judged(row: Row): Row {
  const value = row.target?.of === "ratio" ? row.ratio : row.xdstp;
  return row.target === undefined || value === undefined
    ? row
    : { ...row, met: value <= row.target.atMost };
}
