import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const matchType = "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
const rewriteType = "envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig";
const extension = (type: string, settings: JsonObject) => ({
  name: "template",
  typed_config: { "@type": `type.googleapis.com/${type}`, ...settings },
});
const match = (path: string) => ({
  path_match_policy: extension(matchType, { path_template: path }),
});
const policy = (path: string) => ({
  path_rewrite_policy: extension(rewriteType, { path_template_rewrite: path }),
});

describe("templates of paths", () => {
  it.each<readonly [path: string, problem: string]>([
    ["a/b", 'must begin with "/"'],
    ["/a//b", 'has "//", which has no name between its slashes'],
    ["/a b", 'has " ", which a template cannot have'],
    ["/a?b", 'has "?", which a template cannot have'],
    ["/é", 'has "é", which a template cannot have'],
    ["/{a", "has a bracket without its counterpart"],
    ["/{a={b}}", "has a bracket without its counterpart"],
    ["/{1a}", 'has a variable "1a", which is not a name'],
    ["/{_a}", 'has a variable "_a", which is not a name'],
    ["/{a-b}", 'has a variable "a-b", which is not a name'],
    [`/{${"a".repeat(17)}}`, `has a variable "${"a".repeat(17)}", which is not a name`],
    ["/{a}/{a}", 'has the variable "a" twice'],
    ["/{a=}", 'has a bad pattern for the variable "a"'],
    ["/{a=*b}", 'has a bad pattern for the variable "a"'],
    ["/{a=b/}", 'has a bad pattern for the variable "a"'],
    ["/{a}{b}", "has two variables with nothing between them"],
    ["/{a}/{b}/{c}/{d}/{e}/{f}", "has 6 variables, and the limit is 5"],
    ["/**/a/*", 'has "*" or a variable behind "**"'],
    ["/**/{a}", 'has "*" or a variable behind "**"'],
    ["/{a=**}/{b=**}", 'has "*" or a variable behind "**"'],
  ])("%s: %s", (path, problem) => {
    expect(envoyRejections(matchType, { path_template: path })).toEqual([
      `bad-value path_template: ${problem}`,
    ]);
  });

  it.each([
    "/",
    "/a/",
    "/{a}.jpg",
    "/a{b}/{c}/{d}/{e}/{f}",
    "/{a=b/**}/c",
    "/{a=*/*}",
    "/{a=b*}",
    "/*/*/**",
    "/**/a*",
    "/a/b~c@d:e!$&'()+,;=_%20",
    `/{${"a".repeat(16)}}`,
  ])("takes %s", (path) => {
    expect(envoyRejections(matchType, { path_template: path })).toEqual([]);
  });

  it.each<readonly [path: string, problem: string]>([
    ["a", 'must begin with "/"'],
    ["/a//{b}", 'has "//", which has no name between its slashes'],
    ["/a#b", 'has "#", which a template cannot have'],
    ["/{}", "has a bracket without its counterpart"],
    ["/{a=b}", 'has a variable "a=b", which is not a name'],
  ])("rewrite to %s: %s", (path, problem) => {
    expect(envoyRejections(rewriteType, { path_template_rewrite: path })).toEqual([
      `bad-value path_template_rewrite: ${problem}`,
    ]);
  });

  it.each(["/", "/{a}{b}", "/a/{a}.jpg", "/**{a}"])("takes a rewrite to %s", (path) => {
    expect(envoyRejections(rewriteType, { path_template_rewrite: path })).toEqual([]);
  });

  it.each<readonly [problem: string, route: JsonObject]>([
    [
      "redirect.prefix_rewrite: needs a match by prefix, and this one is a template",
      { match: match("/{a}"), redirect: { prefix_rewrite: "/b" } },
    ],
    [
      "route.prefix_rewrite: needs a match by prefix, and this one is a template",
      { match: match("/{a}"), route: { cluster: "a", prefix_rewrite: "/b" } },
    ],
    [
      "route.path_rewrite_policy: needs a match by template",
      { match: { prefix: "/" }, route: { cluster: "a", ...policy("/{a}") } },
    ],
    [
      'route.path_rewrite_policy.typed_config.path_template_rewrite: has the variable "b", which path_match_policy does not have',
      { match: match("/{a}"), route: { cluster: "a", ...policy("/{a}/{b}") } },
    ],
  ])("%s", (problem, route) => {
    expect(envoyRejections("envoy.config.route.v3.Route", route)).toEqual([`bad-route ${problem}`]);
  });

  it.each<JsonObject>([
    { match: match("/{a}"), redirect: { path_redirect: "/b" } },
    { match: match("/{a}"), route: { cluster: "a", ...policy("/b") } },
    { match: match("/{a}/{b}"), route: { cluster: "a", ...policy("/{b}/{a}") } },
    { match: { prefix: "/" }, redirect: { prefix_rewrite: "/b" } },
    // Matches and rewrites of other extensions are not judged.
    {
      match: { path_match_policy: extension("xds.type.v3.TypedStruct", {}) },
      route: { cluster: "a", ...policy("/{a}") },
    },
  ])("takes %j", (route) => {
    expect(envoyRejections("envoy.config.route.v3.Route", route)).toEqual([]);
  });
});
