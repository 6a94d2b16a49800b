import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const format = "envoy.config.core.v3.SubstitutionFormatString";
const option = "envoy.config.core.v3.HeaderValueOption";

describe("operators of formats", () => {
  it.each<readonly [text: string, problem: string]>([
    ["%PROTOCOL(x)%", "has the operator %PROTOCOL% with an argument, which it does not take"],
    ["%DURATION:3%", "has the operator %DURATION% with a length, which it does not take"],
    ["%START_TIME(%s):3%", "has the operator %START_TIME% with a length, which it does not take"],
    ["%START_TIME(%n)%", 'has the operator %START_TIME%, whose argument "%n" has a line end, %n'],
    ["%REQ()%", "has the operator %REQ% without its argument: %REQ(...)%"],
    ["%REQ(a?b?c)%", 'has the operator %REQ%, whose argument "a?b?c" has more than one "?"'],
    [
      "%RESP(a b)%",
      'has the operator %RESP%, whose argument "a b" has "a b", which is not the name of a header',
    ],
    [
      "%COMMON_DURATION(a)%",
      'has the operator %COMMON_DURATION%, whose argument "a" is not START:END or START:END:PRECISION',
    ],
    [
      "%COMMON_DURATION(a:b:s)%",
      'has the operator %COMMON_DURATION%, whose argument "a:b:s" has the precision "s", which is not one of ms, us, ns',
    ],
    [
      "%FILTER_STATE(a:FIELD)%",
      'has the operator %FILTER_STATE%, whose argument "a:FIELD" is not KEY, KEY:PLAIN, KEY:TYPED or KEY:FIELD:NAME',
    ],
    [
      "%UPSTREAM_FILTER_STATE(a:X)%",
      'has the operator %UPSTREAM_FILTER_STATE%, whose argument "a:X" has "X" behind the colon, which is not one of PLAIN, TYPED, FIELD',
    ],
    [
      "%METADATA(route:a)%",
      'has the operator %METADATA%, whose argument "route:a" does not begin with one of CLUSTER, DYNAMIC, LISTENER, LISTENER_FILTER_CHAIN, ROUTE, UPSTREAM_HOST, VIRTUAL_HOST',
    ],
    ["%PATH(X)%", 'has the operator %PATH%, whose argument "X" is not one of WQ, NQ'],
    [
      "%PATH(WQ:X)%",
      'has the operator %PATH%, whose argument "WQ:X" has "X" behind the colon, which is not one of ORIG, PATH, ORIG_OR_PATH',
    ],
    [
      "%GRPC_STATUS(number)%",
      'has the operator %GRPC_STATUS%, whose argument "number" is not one of CAMEL_STRING, SNAKE_STRING, NUMBER',
    ],
    [
      "%XFCC_VALUE(x)%",
      'has the operator %XFCC_VALUE%, whose argument "x" is not one of by, hash, cert, chain, subject, uri, dns',
    ],
    [
      "%CEL(request.path +)%",
      'has the operator %CEL%, whose argument "request.path +" is not an expression of CEL: see character 14',
    ],
    ["%COALESCE(x)%", 'has the operator %COALESCE%, whose argument "x" is not JSON'],
    [
      '%COALESCE({"operators":["NO"]})%',
      'has the operator %COALESCE%, whose argument "{\\"operators\\":[\\"NO\\"]}" has an operator that has the operator %NO%, which Envoy does not know',
    ],
    ["%SECRET(a)%", "has the operator %SECRET%, which Envoy does not know"],
    ["%REQ(a):18446744073709551616%", 'has a "%" at character 1 that begins no operator'],
    ["%START_TIME(a\nb)%", 'has a "%" at character 1 that begins no operator'],
  ])("%j", (text, problem) => {
    expect(envoyRejections(format, { text_format: text })).toEqual([
      `bad-format text_format: ${problem}`,
    ]);
  });

  it.each([
    "%REQ(X-A?:authority):9% %RESP(a)% %TRAILER(grpc-status)% %REQ(?X)%",
    "%START_TIME% %START_TIME(%Y-%m-%dT%H:%M:%S.%3fZ)% %EMIT_TIME(%t)%",
    "%DURATION% %PROTOCOL()% %BYTES_SENT%",
    "%LISTENER_NAME% %PACKETS_RETRANSMITTED% %ROUNDTRIP_DURATION%",
    "%REQUEST_HEADER(a)% %RESPONSE_HEADER(a?b)% %RESPONSE_TRAILER(a):3% %STREAM_INFO_REQ(a)%",
    "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(24)%",
    "%COMMON_DURATION(DS_RX_BEG:DS_TX_END:us)%",
    "%DYNAMIC_METADATA(a:b):3% %CLUSTER_METADATA(a:b)% %METADATA(LISTENER:a)%",
    "%FILTER_STATE(a)% %FILTER_STATE(a:TYPED):3% %FILTER_STATE(a:FIELD:b)%",
    "%PATH% %PATH(NQ):9% %PATH(WQ:ORIG)% %QUERY_PARAMS(DECODED)%",
    "%REQUESTED_SERVER_NAME(SNI_FIRST:HOST)%",
    "%CEL(request.headers['a'] + '%')% %CEL(a // why)%",
    '%COALESCE({"operators":["PROTOCOL",{"command":"REQ","param":":a","max_length":3}]})%',
    "%XFCC_VALUE(uri)% %ENVIRONMENT(A):2% %QUERY_PARAM(a)%",
  ])("takes %j", (text) => {
    expect(envoyRejections(format, { text_format: text })).toEqual([]);
  });

  it("are more where formatters are configured, and in headers", () => {
    const formatters = (type: string) => [
      {
        name: "a",
        typed_config: { "@type": `type.googleapis.com/envoy.extensions.formatter.${type}` },
      },
    ];
    const known = formatters("req_without_query.v3.ReqWithoutQuery");
    const text = "%REQ_WITHOUT_QUERY(:path)%";
    expect(envoyRejections(format, { text_format: text, formatters: known })).toEqual([]);
    expect(envoyRejections(format, { text_format: "%NO%", formatters: known })).toEqual([
      "bad-format text_format: has the operator %NO%, which Envoy does not know",
    ]);
    const unknown = formatters("dynamic_modules.v3.DynamicModuleFormatter");
    expect(envoyRejections(format, { text_format: "%NO%", formatters: unknown })).toEqual([]);
    const header = { key: "a", value: "%PER_REQUEST_STATE(a)%" };
    expect(envoyRejections(option, { header })).toEqual([]);
  });

  it("have expressions of CEL, as filters of logs have", () => {
    const filter = "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter";
    const found = (expression: string) => envoyRejections(filter, { expression });
    expect(found("response.code >= 400 && request.headers['a'] != 'b'")).toEqual([]);
    expect(found("response.code >== 400")).toEqual([
      "bad-format expression: is not an expression of CEL: see character 15",
    ]);
    expect(found("a.b == 1 && has(a.c) && !a.filter(1)")).toEqual([]);
    expect(found("a && [1].exists(b, b > 1)")).toEqual([
      "bad-format expression: goes through a list (all, exists, exists_one, filter or map), which Envoy does not do",
    ]);
    expect(found("a\n b")).toEqual([
      "bad-format expression: is not an expression of CEL: see line 2, character 2",
    ]);
  });
});
