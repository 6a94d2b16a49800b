/** A client of the table of xdstp-names.md section 12. */
export type Client = "envoy" | "grpc-go" | "grpc-java" | "c-core" | "grpc-js-xds";

/**
 * The text that a client prints for a name; or that it does not read the text as a name of this
 * kind; or that this was not established.
 */
export type Print =
  | { readonly prints: string }
  /** Prints another name, which is an error of the client and is marked so in the table. */
  | { readonly changes: string; readonly prints?: string }
  | {
      readonly reads:
        "opaque" | "invalid" | "not established" | "no type" | "another spelling of the parts";
    };

/** One row of the table: the whole input, and the clients in the order of the columns. */
export interface ClientRow {
  /** The first column, as the rule book has it. */
  readonly row: string;
  readonly input: string;
  /** The last column, as in the rule book. */
  readonly says: string;
  /** The text that this package prints. undefined: an error. */
  readonly ours: string | undefined;
  readonly clients: Readonly<Record<Client, Print>>;
}

const opaque: Print = { reads: "opaque" };
const invalid: Print = { reads: "invalid" };
const unknown: Print = { reads: "not established" };
const noType: Print = { reads: "no type" };
const base = "xdstp://foo/t/x";

type Cell = Print | string;

function row(
  first: string,
  input: string,
  says: string,
  ours: string | undefined,
  ...cells: readonly [Cell, Cell, Cell, Cell, Cell]
): ClientRow {
  const print = (cell: Cell): Print => (typeof cell === "string" ? { prints: cell } : cell);
  const [envoy, go, java, core, js] = cells;
  return {
    row: first,
    input,
    says,
    ours,
    clients: {
      envoy: print(envoy),
      "grpc-go": print(go),
      "grpc-java": print(java),
      "c-core": print(core),
      "grpc-js-xds": print(js),
    },
  };
}

const changes = (why: string, prints?: string): Print =>
  prints === undefined ? { changes: why } : { changes: why, prints };

/**
 * The rows on how a name is printed. Words of the table such as "sorted", "same" and "first" are
 * written out.
 */
export const clientRows: readonly ClientRow[] = [
  row(
    "`xdstp://foo/t` (no id)",
    "xdstp://foo/t",
    "same, id empty",
    "xdstp://foo/t",
    "xdstp://foo/t",
    opaque,
    invalid,
    unknown,
    "xdstp://foo/t/",
  ),
  row(
    "`.../`",
    "xdstp://foo/t/",
    "`...`",
    "xdstp://foo/t",
    "xdstp://foo/t",
    "xdstp://foo/t",
    invalid,
    unknown,
    "xdstp://foo/t/",
  ),
  row(
    "`?b=2&a=1`",
    `${base}?b=2&a=1`,
    "sorted",
    `${base}?a=1&b=2`,
    `${base}?a=1&b=2`,
    `${base}?a=1&b=2`,
    `${base}?a=1&b=2`,
    `${base}?a=1&b=2`,
    `${base}?a=1&b=2`,
  ),
  row(
    "`?ab`",
    `${base}?ab`,
    "`?ab=`",
    `${base}?ab=`,
    `${base}?ab=`,
    `${base}?ab=`,
    `${base}?ab`,
    unknown,
    `${base}?ab`,
  ),
  row("`?`", `${base}?`, "dropped", base, base, base, `${base}?`, unknown, base),
  row(
    "`?a=1&a=2`",
    `${base}?a=1&a=2`,
    "first",
    `${base}?a=1`,
    `${base}?a=1`,
    `${base}?a=1`,
    `${base}?a=1&a=2`,
    changes("the last value counts", `${base}?a=2`),
    `${base}?a=1&a=2`,
  ),
  row(
    "`?a=b=c`",
    `${base}?a=b=c`,
    "`a=b%3Dc`",
    `${base}?a=b%3Dc`,
    `${base}?a=b%3Dc`,
    `${base}?a=b=c`,
    `${base}?a=b=c`,
    unknown,
    `${base}?a=b=c`,
  ),
  row(
    "`?a=%26`",
    `${base}?a=%26`,
    "`a=%26`",
    `${base}?a=%26`,
    `${base}?a=%26`,
    changes("prints & raw", `${base}?a=&`),
    `${base}?a=%26`,
    `${base}?a=%26`,
    changes("splits wrongly"),
  ),
  row(
    "`?a=+`",
    `${base}?a=+`,
    "value `+`, printed `%2B`",
    `${base}?a=%2B`,
    `${base}?a=+`,
    changes("reads + as a space", `${base}?a= `),
    `${base}?a=+`,
    unknown,
    `${base}?a=+`,
  ),
  row(
    "`?a=%20`",
    `${base}?a=%20`,
    "`%20`",
    `${base}?a=%20`,
    `${base}?a= `,
    `${base}?a= `,
    `${base}?a=%20`,
    `${base}?a=%20`,
    `${base}?a= `,
  ),
  row(
    "`?a=%2520`",
    `${base}?a=%2520`,
    "`%2520`",
    `${base}?a=%2520`,
    `${base}?a=%2520`,
    changes("prints % raw", `${base}?a=%20`),
    `${base}?a=%2520`,
    unknown,
    changes("prints % raw", `${base}?a=%20`),
  ),
  row(
    "`?a=;b=2`",
    `${base}?a=;b=2`,
    "value `;b=2`",
    `${base}?a=%3Bb%3D2`,
    `${base}?a=;b%3D2`,
    changes("drops the pair", base),
    `${base}?a=;b=2`,
    unknown,
    `${base}?a=;b=2`,
  ),
  row(
    "authority `a%2Fb`",
    "xdstp://a%2Fb/t/x",
    "same",
    "xdstp://a%2Fb/t/x",
    "xdstp://a%2Fb/t/x",
    opaque,
    "xdstp://a%2Fb/t/x",
    unknown,
    changes("prints / raw", "xdstp://a/b/t/x"),
  ),
  row(
    "authority `u@foo`",
    "xdstp://u@foo/t/x",
    "same",
    "xdstp://u@foo/t/x",
    "xdstp://u@foo/t/x",
    changes("loses the user", "xdstp://foo/t/x"),
    "xdstp://u@foo/t/x",
    unknown,
    "xdstp://u@foo/t/x",
  ),
  row(
    "`.../a%2Fb/c`",
    "xdstp://foo/t/a%2Fb/c",
    "`a/b/c`",
    "xdstp://foo/t/a/b/c",
    "xdstp://foo/t/a/b/c",
    "xdstp://foo/t/a/b/c",
    "xdstp://foo/t/a%2Fb/c",
    unknown,
    "xdstp://foo/t/a/b/c",
  ),
  row(
    "`.../a%3Ab`",
    "xdstp://foo/t/a%3Ab",
    "`a:b`",
    "xdstp://foo/t/a:b",
    "xdstp://foo/t/a:b",
    "xdstp://foo/t/a:b",
    "xdstp://foo/t/a%3Ab",
    unknown,
    "xdstp://foo/t/a:b",
  ),
  row(
    "`.../[::1]:8080`",
    "xdstp://foo/t/[::1]:8080",
    "`%5B::1%5D:8080`",
    "xdstp://foo/t/%5B::1%5D:8080",
    "xdstp://foo/t/%5B::1%5D:8080",
    "xdstp://foo/t/%5B::1%5D:8080",
    invalid,
    unknown,
    "xdstp://foo/t/[::1]:8080",
  ),
  row(
    "`.../a%20b`",
    "xdstp://foo/t/a%20b",
    "`%20`",
    "xdstp://foo/t/a%20b",
    "xdstp://foo/t/a b",
    "xdstp://foo/t/a%20b",
    "xdstp://foo/t/a%20b",
    unknown,
    "xdstp://foo/t/a b",
  ),
  row(
    "`.../` with non-ASCII raw",
    "xdstp://foo/t/é",
    "escaped",
    "xdstp://foo/t/%C3%A9",
    "xdstp://foo/t/%C3%A9",
    "xdstp://foo/t/%C3%A9",
    "xdstp://foo/t/é",
    unknown,
    "xdstp://foo/t/é",
  ),
  row(
    "`.../%zz`",
    "xdstp://foo/t/%zz",
    "error",
    undefined,
    changes("reads a percent sign", "xdstp://foo/t/%25zz"),
    opaque,
    invalid,
    unknown,
    "xdstp://foo/t/%zz",
  ),
  row(
    "`.../~x`",
    "xdstp://foo/t/~x",
    "`~x`",
    "xdstp://foo/t/~x",
    "xdstp://foo/t/%7Ex",
    "xdstp://foo/t/~x",
    "xdstp://foo/t/~x",
    unknown,
    "xdstp://foo/t/~x",
  ),
  row(
    "`.../a@b!$'()*+,;=`",
    "xdstp://foo/t/a@b!$'()*+,;=",
    "same",
    "xdstp://foo/t/a@b!$'()*+,;=",
    "xdstp://foo/t/a@b!$'()*+,;=",
    "xdstp://foo/t/a@b%21$%27%28%29%2A+,;=",
    "xdstp://foo/t/a@b!$'()*+,;=",
    unknown,
    "xdstp://foo/t/a@b!$'()*+,;=",
  ),
  row(
    "`.../ns/*`",
    "xdstp://foo/t/ns/*",
    "same",
    "xdstp://foo/t/ns/*",
    "xdstp://foo/t/ns/*",
    "xdstp://foo/t/ns/%2A",
    "xdstp://foo/t/ns/*",
    unknown,
    "xdstp://foo/t/ns/*",
  ),
  row(
    "`.../x#entry=y` as a name",
    `${base}#entry=y`,
    "error",
    undefined,
    changes("takes the fragment into the id", `${base}%23entry=y`),
    changes("drops the fragment", base),
    `${base}#entry=y`,
    changes("drops the fragment", base),
    changes("drops the fragment", base),
  ),
  row(
    "`xdstp://foo//x`",
    "xdstp://foo//x",
    "type missing",
    undefined,
    noType,
    noType,
    invalid,
    noType,
    noType,
  ),
  row(
    "`xdstp:/foo/t/x`",
    "xdstp:/foo/t/x",
    "error",
    undefined,
    { reads: "another spelling of the parts" },
    opaque,
    invalid,
    unknown,
    { reads: "another spelling of the parts" },
  ),
  row(
    "`XDSTP://foo/t/x`",
    "XDSTP://foo/t/x",
    "not xdstp",
    undefined,
    opaque,
    changes("reads the scheme in any case", "xdstp://foo/t/x"),
    opaque,
    opaque,
    opaque,
  ),
];

/** The rows on behaviour, not on printing. */
export const otherRows: readonly string[] = [
  "type in the name differs from the type asked",
  "directive twice",
  "globs",
  "list collections",
  "`alt`, `entry`, redirect",
  "unknown authority",
];
