// A page of OpenFeature without a page: the OFREP provider for the web in Node, which has the `EventSource` of browsers. The argument is the port. For each key on standard input it prints the value and the reason.
import { createInterface } from "node:readline";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature, type Provider } from "@openfeature/web-sdk";

const provider = new OFREPWebProvider({
  baseUrl: `http://127.0.0.1:${process.argv[2] ?? ""}`,
  cacheMode: "disabled",
});
await OpenFeature.setContext({ targetingKey: "user-1", plan: "pro" });
// The types of the provider are not written for exactOptionalPropertyTypes.
await OpenFeature.setProviderAndWait(provider as Provider);
const client = OpenFeature.getClient();
console.log("ready");
for await (const key of createInterface({ input: process.stdin })) {
  const { value, reason } = client.getStringDetails(key, "default");
  console.log(JSON.stringify({ value, reason }));
}
