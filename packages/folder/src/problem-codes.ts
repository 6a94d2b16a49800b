/**
 * The codes of problems. `severity`: errors are problems for which `serve` or a client rejects a resource. `summary`: one sentence.
 * `isAllowable`: a resource with this problem can be served, for clients that accept it.
 * A code is never renamed, and never gets another meaning. To add a code, add a row here and its page `docs/checks/CODE.md`, whose example is run by a test.
 */
export const problemCodes = {
  // Folders and files.
  "unreadable-file": {
    severity: "error",
    summary: "A file or folder does not exist or cannot be read.",
  },
  "misplaced-file": { severity: "error", summary: "A file does not lie where a resource lies." },
  "bad-file-name": {
    severity: "error",
    summary: "The name of a file or folder cannot be a part of a resource name.",
  },
  "unrecognized-file": {
    severity: "error",
    summary: "A file is neither a bootstrap nor a resource that says its type.",
  },
  "unread-file": {
    severity: "warning",
    summary: "A file next to resources has an extension that is not read.",
  },
  "no-resources": { severity: "warning", summary: "A folder has no resource." },
  "file-in-writing": { severity: "error", summary: "A file changes while it is read." },
  "empty-file": { severity: "error", summary: "A file is empty." },
  "not-utf-8": { severity: "error", summary: "A text file is not encoded in UTF-8." },
  "too-large": { severity: "error", summary: "A file needs more memory than one file may take." },

  // Syntax.
  syntax: {
    severity: "error",
    summary: "A text is not YAML, JSON or text format, or bytes are not a message.",
  },
  "too-deep": { severity: "error", summary: "Values are nested deeper than clients can decode." },
  "inexact-number": {
    severity: "error",
    summary: "An integer is too large for a number of YAML and JSON.",
  },
  "repeated-key": {
    severity: "warning",
    summary: "A bootstrap has a key twice in one object; Envoy reads the last one.",
  },
  "extra-document": {
    severity: "warning",
    summary: "A bootstrap has a second document; Envoy reads the first one only.",
  },

  // Messages and their fields.
  "unknown-type": { severity: "error", summary: "A type is not known." },
  "wrong-type": {
    severity: "error",
    summary: "A resource has another type than its folder or list.",
  },
  "not-a-message": { severity: "error", summary: "A value stands where a message is expected." },
  "unknown-field": { severity: "error", summary: "A key is not a field of the message." },
  "wrong-enum-value": { severity: "error", summary: "A value is not one of those of an enum." },
  "wrong-value": { severity: "error", summary: "A value does not fit the type of its field." },
  "oneof-conflict": { severity: "error", summary: "Two fields are set of which only one can be." },
  constraint: {
    severity: "error",
    isAllowable: true,
    summary: "A value breaks a rule that the type declares and clients check.",
  },

  deprecated: { severity: "warning", summary: "A field or value is deprecated." },
  disallowed: {
    severity: "warning",
    summary: "Envoy rejects a deprecated field or value, unless its runtime allows it.",
  },

  // Names, wrappers, lists and redirects.
  "bad-name": { severity: "error", summary: "A text is not the name of a resource." },
  "wrong-name": {
    severity: "error",
    summary: "A name does not belong into its folder or differs from that of its file.",
  },
  "missing-name": { severity: "error", summary: "A resource in a file of several has no name." },
  "duplicate-name": { severity: "error", summary: "Two resources of a type have the same name." },
  "bad-wrapper": {
    severity: "error",
    summary: "A Resource or DiscoveryResponse in a file is not complete or contradicts itself.",
  },
  "bad-constraints": {
    severity: "error",
    summary: "Constraints of a variant do not say which clients they are for.",
  },
  "overlapping-variants": {
    severity: "error",
    summary: "A client could get two variants of one name.",
  },
  "bad-list": {
    severity: "error",
    summary: "A list collection or one of its entries has a wrong form.",
  },
  "bad-locator": {
    severity: "error",
    summary: "A locator is not valid, or cannot lead to a resource of this type.",
  },
  "redirect-loop": { severity: "error", summary: "A redirect leads to itself." },
  unserved: {
    severity: "error",
    summary: "The program that reads the folder cannot serve this content.",
  },

  // References.
  "dangling-reference": {
    severity: "warning",
    summary: "A resource refers to one that is not there.",
  },
  "foreign-authority": {
    severity: "warning",
    summary: "A reference leads to an authority that is not served here.",
  },
  "missing-static-resource": {
    severity: "error",
    summary: "A bootstrap refers to a static resource that it does not have.",
  },
  "unused-resource": {
    severity: "warning",
    summary: "Nothing refers to a resource that clients only request by reference.",
  },

  // Imports of configuration for other programs.
  "not-imported": {
    severity: "warning",
    summary: "An object of Kubernetes, or a field of it, is not part of what was imported.",
  },
  "shared-address": {
    severity: "warning",
    summary: "A listener has the address of another one, or of the admin page.",
  },

  // Files that secrets name.
  "bad-file-reference": {
    severity: "error",
    summary: "A file that a secret names cannot be used.",
  },
  "bad-certificate": {
    severity: "error",
    summary: "A certificate or private key is missing or cannot be read.",
  },
  "key-mismatch": {
    severity: "error",
    summary: "A private key does not belong to its certificate.",
  },
  "exposed-private-key": {
    severity: "error",
    summary: "A private key lies in the file of a certificate.",
  },

  // Resources that Envoy's code rejects although their constraints allow them.
  "bad-cluster": {
    severity: "error",
    isAllowable: true,
    summary:
      "Envoy rejects how a cluster finds, checks or reaches its endpoints, or balances the load.",
  },
  "bad-route": {
    severity: "error",
    isAllowable: true,
    summary: "Envoy rejects the domains, weights, rewrites, upgrades or bodies of routes.",
  },
  "bad-listener": {
    severity: "error",
    isAllowable: true,
    summary: "Envoy rejects the address or the filter chains of a listener.",
  },
  "bad-filter-order": {
    severity: "error",
    isAllowable: true,
    summary: "A chain of filters does not end with a filter that ends it.",
  },
  "wrong-extension": {
    severity: "error",
    isAllowable: true,
    summary: "An extension has no type, or one that does not belong there.",
  },
  "missing-extension": {
    severity: "warning",
    summary: "The standard build of Envoy does not have an extension.",
  },
  "bad-format": {
    severity: "error",
    isAllowable: true,
    summary: "A format of an access log or header, or an expression, is not one that Envoy reads.",
  },
  "bad-header": {
    severity: "error",
    isAllowable: true,
    summary: "A list sets or removes a header that Envoy does not let it change.",
  },
  "bad-pattern": {
    severity: "error",
    isAllowable: true,
    summary: "A regular expression or its substitution is not one of RE2.",
  },
  "bad-tls": {
    severity: "error",
    isAllowable: true,
    summary: "Envoy cannot read a file, certificate, key or name of TLS, or misses one.",
  },
  "bad-value": {
    severity: "error",
    isAllowable: true,
    summary: "An address, network, range, version or payload is not one that Envoy takes.",
  },
  "bad-bootstrap": {
    severity: "error",
    isAllowable: true,
    summary: "Parts of a bootstrap contradict each other, or need one that is missing.",
  },
  "missing-node": {
    severity: "error",
    summary: "A bootstrap subscribes to a source, but does not say which node it is.",
  },
  "bad-jwt": {
    severity: "error",
    isAllowable: true,
    summary: "A rule for tokens names no provider, or keys cannot be read.",
  },
  "rejected-by-grpc": {
    severity: "error",
    isAllowable: true,
    summary: "gRPC clients reject it, whatever Envoy does.",
  },
  "rejected-by-envoy": {
    severity: "error",
    isAllowable: true,
    summary: "The Envoy of `--envoy` rejects it, and no other check says why.",
  },
} as const;

/** A code of a problem: plain, stable, in kebab-case. */
export type ProblemCode = keyof typeof problemCodes;

/** Returns the severity of problems with this code. */
export function severityOf(code: ProblemCode): "error" | "warning" {
  return problemCodes[code].severity;
}

/** Splits problems into errors and warnings. */
export function bySeverity<T extends { readonly code: ProblemCode }>(
  found: readonly T[],
): { readonly problems: readonly T[]; readonly warnings: readonly T[] } {
  return {
    problems: found.filter(({ code }) => severityOf(code) === "error"),
    warnings: found.filter(({ code }) => severityOf(code) === "warning"),
  };
}
