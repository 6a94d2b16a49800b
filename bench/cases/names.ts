import type { BenchCase } from "../bench-case.ts";
import { benchUri } from "../uri.ts";

/** Reading and printing of names next to `new URL()`, which is the floor here. */
export const namesCase: BenchCase = {
  name: "uri",
  deadlineSeconds: 120,
  connections: 0,
  run({ quick, say }) {
    say("parse, print and match");
    const rows = benchUri({ quick });
    return Promise.resolve(
      rows.flatMap(({ name, value, unit, ratio }) =>
        ratio === undefined
          ? []
          : [
              {
                case: name,
                measure: "time per call, best round",
                unit,
                floor: value / ratio,
                xdstp: value,
                ratio,
              },
            ],
      ),
    );
  },
};
